/** Code, output and arguments: as they are, with a way to copy them. */
import { useState } from "preact/hooks";

const SAID_MS = 1_500;

export function CodeBlock({ text, language = "", label = "code" }: { text: string; language?: string; label?: string }) {
	return (
		<div class="ag-code">
			<div class="ag-code-head">
				<span>{language.slice(0, 30)}</span>
				<Copy text={text} what={label} />
			</div>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
			<pre tabIndex={0}>
				<code>{text}</code>
			</pre>
		</div>
	);
}

export function Copy({ text, what }: { text: string; what: string }) {
	const [said, setSaid] = useState("");
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			setSaid("Copied");
		} catch {
			setSaid("Select it and copy by hand");
		}
		setTimeout(() => setSaid(""), SAID_MS);
	};
	return (
		<button type="button" class="ag-link" title={`Copy the ${what}`} onClick={() => void copy()}>
			{said || "Copy"}
		</button>
	);
}
