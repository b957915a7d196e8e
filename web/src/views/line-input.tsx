/** The input of a program that reads a pipe: no terminal echoes the keys, so a line is written first and then sent. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TerminalView } from "../terminal/view.js";
import { Button } from "../ui/button.js";
import { say } from "../ui/toasts.js";

export function LineInput({ view }: { view: TerminalView }) {
	const [text, setText] = useState("");
	const input = useRef<HTMLInputElement>(null);
	const shown = !view.detail.pty && view.live.hands.value.mine;
	useEffect(() => {
		if (shown) input.current?.focus();
	}, [shown]);
	if (!shown) return null;
	return (
		<form
			class="line-input"
			onSubmit={(event) => {
				event.preventDefault();
				if (view.live.type(`${text}\n`)) setText("");
				else say("Not connected: nothing was sent.", true);
			}}
		>
			<input
				ref={input}
				class="input mono"
				aria-label="A line for its input"
				placeholder="A line for its input"
				autocomplete="off"
				spellcheck={false}
				value={text}
				onInput={(event) => setText(event.currentTarget.value)}
			/>
			<Button submit>Send</Button>
		</form>
	);
}
