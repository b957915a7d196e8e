/** Many controls, one Tab stop: Tab comes to the one that was used last, arrows go on from there, Home and End to the edges. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** `selector`: the controls. Those of a list go up and down, which is the list's own affair. */
export function useRoving<T extends HTMLElement>(selector: string): RefObject<T | null> {
	const ref = useRef<T>(null);
	useEffect(() => {
		const host = ref.current as T;
		let last: Element | null = null;
		const items = () => [...host.querySelectorAll<HTMLElement>(selector)].filter((item) => !(item instanceof HTMLButtonElement && item.disabled));
		const arrange = () => {
			const all = items();
			const stop = all.find((item) => item === last) ?? all.find((item) => item.ariaCurrent) ?? all[0];
			for (const item of all) {
				const index = item === stop ? 0 : -1;
				if (item.tabIndex !== index || !item.hasAttribute("tabindex")) item.tabIndex = index;
			}
		};
		const focused = (event: FocusEvent) => {
			last = (event.target as Element).closest(selector) ?? last;
			arrange();
		};
		const pressed = (event: KeyboardEvent) => {
			const all = items();
			const at = all.indexOf((event.target as Element).closest(selector) as HTMLElement);
			const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : at + (STEPS[event.key] ?? NaN);
			const next = at < 0 || event.ctrlKey || event.altKey || event.metaKey ? undefined : all[to];
			if (!next) return;
			event.preventDefault();
			next.focus();
		};
		const observer = new MutationObserver(arrange);
		observer.observe(host, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-current", "disabled"] });
		host.addEventListener("focusin", focused);
		host.addEventListener("keydown", pressed);
		arrange();
		return () => {
			observer.disconnect();
			host.removeEventListener("focusin", focused);
			host.removeEventListener("keydown", pressed);
		};
	}, [selector]);
	return ref;
}
