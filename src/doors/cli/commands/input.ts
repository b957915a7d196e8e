import { Audit } from "../../../audit/index.js";
import { HoldfastError } from "../../../base/index.js";
import { mustBeFree } from "../../../process/index.js";
import { type CliCall, type CommandBody, EXIT, type Values } from "../command.js";
import { processOf } from "../look.js";

const source = {
	file: { type: "string" as const, value: "FILE", help: "take the data from a file, - for stdin" },
};

export const write: CommandBody = {
	name: "write",
	usage: "ID [TEXT]",
	options: source,
	teach: `
Without TEXT, and with --file -, the data is read from stdin; it may be binary.

Examples
  holdfast write 3f2a 'yes
  '
  holdfast write 3f2a --file data.bin`,
	run: (call) => send(call, ""),
};

export const submit: CommandBody = {
	name: "submit",
	usage: "ID [TEXT]",
	options: source,
	teach: `
Enter is a newline, or a carriage return for a process on a terminal, as a keyboard sends it.

Example
  holdfast submit 3f2a 'print(1 + 1)'`,
	run: (call) => send(call, "\n"),
};

export const close: CommandBody = {
	name: "close",
	usage: "ID",
	options: {},
	teach: "Example\n  holdfast close 3f2a",
	async run(call) {
		const [id, ...more] = call.words;
		if (id === undefined || more.length > 0) throw new HoldfastError("INVALID", "give the id of one process");
		const process = await processOf(call, id);
		mustBeFree(process);
		await process.closeStdin();
		if (call.out.json) call.out.data({ session_id: process.id, closed: true });
		return EXIT.ok;
	},
};

async function send(call: CliCall, enter: string): Promise<number> {
	const [id, text, ...more] = call.words;
	if (id === undefined) throw new HoldfastError("INVALID", "give the id of a process and the text");
	if (more.length > 0) throw new HoldfastError("INVALID", "put quotes around a text with spaces");
	if (text !== undefined && call.values.file !== undefined) throw new HoldfastError("INVALID", "give the text or --file, not both");
	const runtime = await call.runtime();
	const process = await processOf(call, id);
	mustBeFree(process);
	const data = text === undefined ? await readData(call.values.file) : Buffer.from(text);
	const end = enter === "" ? Buffer.alloc(0) : Buffer.from(process.spec.terminal ? "\r" : enter);
	const bytes = await process.write(Buffer.concat([data, end]));
	Audit.note(runtime.home, process.spec.task, { event: "wrote", session_id: process.id, bytes, by: "cli" });
	if (call.out.json) call.out.data({ session_id: process.id, bytes_written: bytes });
	return EXIT.ok;
}

async function readData(file: Values[string]): Promise<Buffer> {
	if (typeof file === "string" && file !== "-") {
		const { readFile } = await import("node:fs/promises");
		return readFile(file).catch((cause: NodeJS.ErrnoException) => {
			throw new HoldfastError("INVALID", `cannot read ${file}: ${cause.code}`, { cause });
		});
	}
	if (process.stdin.isTTY && file === undefined) throw new HoldfastError("INVALID", "give the text after the id, or pipe it in");
	const parts: Buffer[] = [];
	for await (const part of process.stdin) parts.push(part as Buffer);
	return Buffer.concat(parts);
}
