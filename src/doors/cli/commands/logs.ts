import { StringDecoder } from "node:string_decoder";
import { counted, HarmlessText, HoldfastError, utf8 } from "../../../base/index.js";
import { type Process, RedactedStream, summary } from "../../../process/index.js";
import { type CliCall, type CommandBody, EXIT, numberOption, oneWord } from "../command.js";
import { processOf, tellOfReach } from "../look.js";
import { writeOut } from "../stream.js";

const CHUNK = 1024 * 1024;

export const logs: CommandBody = {
	name: "logs",
	usage: "ID [-f] [--from OFFSET | --lines N] [--raw]",
	options: {
		follow: { type: "boolean", short: "f", help: "go on printing until it ends" },
		from: { type: "string", value: "OFFSET", help: "start at this byte of the output (0: the first)" },
		lines: { type: "string", short: "n", value: "N", help: "only the last N lines" },
		raw: { type: "boolean", help: "as it was printed, with secrets and every escape sequence" },
		discard: {
			type: "string",
			value: "OFFSET",
			help: "forget the oldest output up to this byte, as far as whole segments go; a writer paused by a full log goes on",
		},
	},
	teach: `
The output is printed byte for byte, except that secrets are masked (…[redacted]). On a terminal, escape sequences other
than colours are left out as well, so that a process cannot act on your terminal. --raw prints everything as it was.
Offsets are those of the log itself. If the beginning is gone (a log keeps its last 64 MiB), a remark on stderr says
from which byte it starts. With --json: {session_id, output, byte_offset, next_offset, total_bytes, status, exit_code};
with --json --follow an object a line: {session_id, output, byte_offset, next_offset}, the last one with status and exit_code.

Examples
  holdfast logs 3f2a -n 20
  holdfast logs 3f2a -f --from 10240`,
	async run(call) {
		const process = await processOf(call, oneWord(call, "the id of one process"));
		const discard = numberOption(call, "discard", { min: 0 });
		if (discard !== undefined) {
			const first = await process.discard(discard);
			if (call.out.json) call.out.data({ session_id: process.id, first_offset: first });
			else call.out.note(`the output of ${process.id} now starts at byte ${first}`);
			return EXIT.ok;
		}
		if (process.spec.within) (await import("../../../shell/index.js")).knowShellSecrets((await call.runtime()).home, process.spec);
		const from = start(call, process);
		const { first } = process.log.bounds();
		if (first > from)
			call.out.note(`holdfast: the first ${counted(first - from, "byte asked for is", "bytes asked for are")} gone; this starts at byte ${first}`);
		return call.values.follow ? follow(call, process, from) : printAll(call, process, from);
	},
};

function start(call: CliCall, process: Process): number {
	const from = numberOption(call, "from", { min: 0 });
	const lines = numberOption(call, "lines", { min: 0 });
	if (from !== undefined && lines !== undefined) throw new HoldfastError("INVALID", "give --from or --lines, not both");
	if (lines !== undefined) return startOfLastLines(process, lines);
	return from ?? 0;
}

/** Reads backwards, so that the end of a long log is found at once. */
export function startOfLastLines(process: Process, lines: number): number {
	const { first, end } = process.log.bounds();
	if (lines === 0) return end;
	let left = lines;
	for (let to = end; to > first; ) {
		const from = Math.max(first, to - 65_536);
		const { bytes } = process.read(from, to - from);
		for (let at = bytes.length - 1; at >= 0; at--) {
			if (bytes[at] !== 10 || from + at === end - 1) continue;
			left--;
			if (left === 0) return from + at + 1;
		}
		to = from;
	}
	return first;
}

type Shown = Pick<RedactedStream, "push" | "end">;

function shownOf(call: CliCall, process_: Process, from: number): Shown {
	if (call.values.raw) return { push: (bytes) => bytes, end: () => Buffer.alloc(0) };
	const masked = new RedactedStream(process_, from);
	return process.stdout.isTTY && !call.out.json ? harmless(masked) : masked;
}

/** Removes everything that would act on the terminal that shows the output. */
function harmless(masked: Shown): Shown {
	const [decoder, text] = [new StringDecoder("utf8"), new HarmlessText()];
	return {
		push: (bytes) => Buffer.from(text.push(decoder.write(masked.push(bytes)))),
		end: () => Buffer.from(text.push(decoder.write(masked.end()) + decoder.end()) + text.end()),
	};
}

async function printAll(call: CliCall, process: Process, from: number): Promise<number> {
	const { end } = process.log.bounds();
	const parts: Buffer[] = [];
	const shown = shownOf(call, process, from);
	const print = async (bytes: Buffer) => {
		if (call.out.json) parts.push(bytes);
		else await writeOut(bytes);
	};
	let next = from;
	let began: number | undefined;
	while (next < end) {
		const slice = process.read(next, Math.min(CHUNK, end - next));
		if (slice.bytes.length === 0) break;
		began ??= slice.offset;
		await print(shown.push(slice.bytes));
		next = slice.next;
	}
	await print(shown.end());
	if (call.out.json) {
		const { session_id, status, exit_code } = summary(process);
		call.out.data({ session_id, output: utf8(Buffer.concat(parts)), byte_offset: began ?? from, next_offset: next, total_bytes: end, status, exit_code });
	}
	return EXIT.ok;
}

async function follow(call: CliCall, process: Process, from: number): Promise<number> {
	const decoder = new StringDecoder("utf8");
	const shown = shownOf(call, process, from);
	const untell = tellOfReach(call, process);
	for await (const slice of process.follow({ from })) {
		const bytes = shown.push(slice.bytes);
		if (call.out.json) call.out.data({ session_id: process.id, output: decoder.write(bytes), byte_offset: slice.offset, next_offset: slice.next });
		else await writeOut(bytes);
	}
	untell();
	if (!call.out.json) await writeOut(shown.end());
	else {
		const { session_id, status, exit_code, total_bytes } = summary(process);
		call.out.data({ session_id, output: decoder.write(shown.end()) + decoder.end(), byte_offset: total_bytes, next_offset: total_bytes, status, exit_code });
	}
	return EXIT.ok;
}
