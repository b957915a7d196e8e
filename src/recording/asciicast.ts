/**
 * The log of a terminal as asciicast v2: a header, then a line for each piece of output and each new size, with its time. The log
 * is the truth: the pieces are its bytes in order, and `times` only says when they came.
 */
import { HoldfastError, packageVersion, Utf8Stream } from "../base/index.js";
import { starred } from "../base/secrets/index.js";
import { isOver, maskedCommand, nameOf, type Process, RedactedStream } from "../process/index.js";
import { readTimes, timesUpTo } from "./times.js";

/** Line by line, each with its newline. What is printed while this is read is not part of it. `mask`: with stars in place of secrets. */
export async function* asciicast(process: Process, { mask = false }: { mask?: boolean } = {}): AsyncGenerator<string, void> {
	const { spec } = process;
	if (!spec.terminal)
		throw new HoldfastError(
			"NO_TERMINAL",
			`${process.id} has no terminal, and only of terminals it is kept when something was printed; \`holdfast logs\` has its output`,
		);
	const over = isOver(process.status());
	const { first, end } = process.log.bounds();
	await timesUpTo(process, end);
	const text = new Utf8Stream();
	const cursor = process.log.cursor(first);
	const masked = mask ? new RedactedStream(process, first, starred) : undefined;
	const sizes: { offset: number; cols: number; rows: number }[] = []; // noted, and not yet reached
	let size: { cols: number; rows: number } = spec.terminal;
	let header = false;
	let seconds = 0;
	let noted = 0; // how many bytes the times account for

	function* printed(upTo: number): Generator<string> {
		for (;;) {
			while (sizes[0] && sizes[0].offset <= cursor.offset) {
				size = sizes.shift() as { cols: number; rows: number };
				if (header) yield event(seconds, "r", `${size.cols}x${size.rows}`);
			}
			if (!header) yield `${JSON.stringify(headerOf(process, size, { first, mask }))}\n`;
			header = true;
			if (cursor.offset >= upTo) return;
			const { bytes } = cursor.read(Math.min(upTo, sizes[0]?.offset ?? upTo) - cursor.offset);
			if (bytes.length === 0) return;
			const piece = text.push(masked ? masked.push(bytes) : bytes);
			if (piece !== "") yield event(seconds, "o", piece);
		}
	}

	try {
		for await (const moment of readTimes(process.dir)) {
			if (moment.kind === "size") {
				sizes.push(moment);
				continue;
			}
			noted += moment.bytes;
			if (noted <= first) continue; // the ring has dropped it
			seconds = Math.max(seconds, moment.microseconds / 1e6);
			yield* printed(Math.min(noted, end));
			if (noted >= end) break;
		}
		yield* printed(end); // also output without a recorded time
		const rest = (masked && over ? text.push(masked.end()) : "") + text.end(); // while it runs, what is left may be the beginning of a secret
		if (rest !== "") yield event(seconds, "o", rest);
	} finally {
		cursor.close();
	}
}

const event = (seconds: number, kind: "o" | "r", data: string): string => `${JSON.stringify([Math.round(seconds * 1e6) / 1e6, kind, data])}\n`;

function headerOf(process: Process, size: { cols: number; rows: number }, { first, mask }: { first: number; mask: boolean }): object {
	const { spec } = process;
	const name = nameOf(process);
	return {
		version: 2,
		width: size.cols,
		height: size.rows,
		timestamp: Math.floor(spec.startedAt / 1000),
		command: mask ? maskedCommand(process) : spec.command,
		...(name === undefined ? {} : { title: name }),
		env: { TERM: "xterm-256color", SHELL: spec.shell ?? "" },
		holdfast: {
			version: packageVersion(),
			session_id: spec.id,
			first_offset: first,
			...(first > 0 ? { note: `the log keeps its newest part: what was printed before byte ${first} is not in this recording` } : {}),
		},
	};
}
