import { once } from "node:events";
import fs from "node:fs";
import { counted, errno, HoldfastError } from "../../../base/index.js";
import { type CommandBody, EXIT } from "../command.js";
import { processOf } from "../look.js";
import { writeOut } from "../stream.js";

export const record: CommandBody = {
	name: "record",
	usage: "export ID [--output FILE]",
	words: ["export"],
	options: {
		output: { type: "string", short: "o", value: "FILE", help: "write it here instead of to stdout; a file that exists is not replaced" },
	},
	teach: `
Any process with a terminal has been recorded: its log has what was printed, and the times are kept beside it. What was typed
is not in it, unless the program printed it. Of a log that has grown beyond its limit the recording has the newest part.
asciinema and its player play it, and so does the page of \`holdfast serve\`.

Examples
  holdfast record export 3f2a --output demo.cast
  holdfast record export 3f2a | asciinema play -`,
	async run(call) {
		const [verb, id, ...more] = call.words;
		if (verb !== "export" || id === undefined || more.length > 0) throw new HoldfastError("INVALID", "say which: `holdfast record export ID`");
		const process = await processOf(call, id);
		const { asciicast } = await import("../../../recording/index.js");
		const file = call.values.output;
		if (call.out.json && typeof file !== "string") throw new HoldfastError("INVALID", "with --json give --output FILE: a recording is no JSON object");
		if (typeof file !== "string") {
			for await (const line of asciicast(process)) await writeOut(Buffer.from(line));
			return EXIT.ok;
		}
		const bytes = await save(file, asciicast(process));
		if (call.out.json) call.out.data({ session_id: process.id, file, bytes });
		else call.out.note(`${counted(bytes, "byte")} written to ${file}`);
		return EXIT.ok;
	},
};

async function save(file: string, lines: AsyncGenerator<string>): Promise<number> {
	const first = await lines.next(); // what is wrong with the process is known now, before there is a file
	const stream = fs.createWriteStream(file, { flags: "wx", mode: 0o600 });
	try {
		await once(stream, "open");
		if (!first.done) stream.write(first.value);
		for await (const line of lines) if (!stream.write(line)) await once(stream, "drain");
		stream.end();
		await once(stream, "finish");
		return stream.bytesWritten;
	} catch (cause) {
		stream.destroy();
		const why = errno(cause) === "EEXIST" ? "there is such a file already; choose another name, or remove it" : (cause as Error).message;
		throw new HoldfastError("INVALID", `cannot write ${file}: ${why}`, { cause });
	}
}
