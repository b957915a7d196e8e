/** A command with its risky parts marked. Where they are is counted in bytes of UTF-8, as the parser does. */
import { visible } from "../../../src/base/text.js";

interface Part {
	readonly start: number;
	readonly end: number;
	readonly reason: string;
}

export function Risky({ command, parts }: { command: string; parts: readonly Part[] }) {
	const bytes = new TextEncoder().encode(command);
	const text = (from: number, to: number) => visible(new TextDecoder().decode(bytes.subarray(from, to)));
	const pieces = [];
	let at = 0;
	for (const { start, end, reason } of [...parts].sort((a, b) => a.start - b.start)) {
		if (end <= at) continue; // inside one that is marked already
		const from = Math.max(start, at);
		pieces.push(text(at, from));
		pieces.push(
			<mark key={from} title={reason}>
				{text(from, end)}
			</mark>,
		);
		at = end;
	}
	pieces.push(text(at, bytes.length));
	return <code>{pieces}</code>;
}
