/** A window over the page: the browser's own, which keeps the focus inside and closes with Escape. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button.js";

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
	const ref = useRef<HTMLDialogElement>(null);
	const id = useId();
	useEffect(() => {
		const before = document.activeElement;
		ref.current?.showModal();
		ref.current?.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea)")?.focus(); // rather than the button that closes it
		return () => {
			if (before instanceof HTMLElement) before.focus();
		};
	}, []);
	return (
		<dialog
			ref={ref}
			class="dialog"
			aria-labelledby={id}
			onClose={onClose}
			onCancel={onClose}
			onMouseDown={(event) => {
				if (event.target === ref.current) onClose(); // beside it
			}}
		>
			<header>
				<h2 id={id}>{title}</h2>
				<Button icon="close" label="Close" kind="bare" onClick={onClose} />
			</header>
			<div class="dialog-body">{children}</div>
		</dialog>
	);
}
