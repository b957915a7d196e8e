#!/usr/bin/env node
/** `holdfast COMMAND …`: find the command, run it, turn what went wrong into a sentence and an exit code. */
import { setFlagsFromString } from "node:v8";
import { HoldfastError } from "../../base/errors.js";
import { hideOwnSecrets } from "../../base/own-secrets.js";
import { EXIT, parseCall } from "./command.js";
import { commandNamed } from "./commands/index.js";
import { commandHelp, overview, version } from "./help.js";
import { Output } from "./output.js";

// The parser of shell text is WebAssembly. Its first command would have V8 optimise it for most of a second of CPU time, and a program
// cannot end before that is done; unoptimised it takes a millisecond.
for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);

async function main(argv: readonly string[]): Promise<number> {
	const [name, ...rest] = argv;
	const out = new Output({ json: before(rest).includes("--json") });
	try {
		if (name === undefined || name === "help" || name === "--help" || name === "-h") {
			const topic = rest.find((word) => !word.startsWith("-"));
			out.line(topic === undefined ? overview(out) : commandHelp(await commandNamed(topic), out));
			return EXIT.ok;
		}
		if (name === "--version" || name === "version") {
			out.line(version());
			return EXIT.ok;
		}
		const command = await commandNamed(name);
		const { values, words } = parseCall(command, rest);
		if (values.help) {
			out.line(commandHelp(command, out));
			return EXIT.ok;
		}
		const { runtimeOpener } = await import("./open.js");
		const opener = runtimeOpener(values, { starts: command.starts === true });
		if (command.starts) out.hear(opener.takeNotes);
		try {
			return await command.run({ values, words, out, runtime: opener.runtime, agent: opener.agent });
		} finally {
			out.tell();
			await opener.close();
		}
	} catch (error) {
		out.error(error);
		return exitCodeOf(error, name);
	}
}

/** What is before `--` is ours; the rest belongs to the command that is started. */
const before = (argv: readonly string[]): readonly string[] => argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined);

function exitCodeOf(error: unknown, command: string | undefined): number {
	if (!(error instanceof HoldfastError)) return EXIT.failed;
	if (error.code === "INVALID") return EXIT.usage;
	if (error.code === "NOT_FOUND") return EXIT.notFound;
	if (error.code === "ABORTED") return EXIT.interrupted;
	return command === "run" ? EXIT.notStarted : EXIT.failed;
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code === "EPIPE") process.exit(EXIT.ok); // `holdfast logs … | head`
	process.stderr.write(`holdfast: cannot write to stdout: ${error.message}\n`);
	process.exit(EXIT.failed);
});

hideOwnSecrets(); // before anything is started that could look
process.exitCode = await main(process.argv.slice(2));
