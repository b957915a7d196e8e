/** `holdfast COMMAND …`: find the command, run it, turn what went wrong into a sentence and an exit code. */
import { compileEverythingBaseline, ERRORS, HoldfastError, hideOwnSecrets } from "../../base/index.js";
import { Redactor } from "../../base/secrets/index.js";
import { EXIT, parseCall } from "./command.js";
import { commandNamed } from "./commands/index.js";
import { commandHelp, overview, version } from "./help.js";
import { Output } from "./output.js";

/** Commands that decide about no shell text, and so load no parser of it. */
const WITHOUT_PARSER = new Set([
	"ps",
	"logs",
	"status",
	"run",
	"shell",
	"attach",
	"wait",
	"kill",
	"signal",
	"write",
	"submit",
	"close",
	"tasks",
	"end",
	"prune",
]);

async function main(argv: readonly string[]): Promise<number> {
	// A person who types the name alone is shown what there is; a program gets the help.
	const [name, ...rest] = argv.length === 0 && process.stdout.isTTY ? ["status"] : argv;
	const out = new Output({ json: before(rest).includes("--json"), secrets });
	try {
		if (name === undefined || name === "help" || name === "--help" || name === "-h") {
			const topic = rest.find((word) => !word.startsWith("-"));
			out.line(topic === undefined ? overview(out) : await commandHelp(await commandNamed(topic), out));
			return EXIT.ok;
		}
		if (name === "--version" || name === "version") {
			out.line(version());
			return EXIT.ok;
		}
		hideOwnSecrets(secrets); // before anything is started that could look
		const command = await commandNamed(name);
		const { values, words } = parseCall(command, rest);
		if (values.help) {
			out.line(await commandHelp(command, out));
			return EXIT.ok;
		}
		if (!WITHOUT_PARSER.has(name)) compileEverythingBaseline();
		const { runtimeOpener } = await import("./open.js");
		const opener = runtimeOpener(values, { starts: command.starts === true, progress: (place, line) => out.note(`holdfast: ${place}: ${line}`) });
		out.mask(opener.secrets);
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

/** Returns the arguments before `--`; the rest belongs to the command that is started. */
const before = (argv: readonly string[]): readonly string[] => argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined);

function exitCodeOf(error: unknown, command: string | undefined): number {
	if (!(error instanceof HoldfastError)) return EXIT.failed;
	const { exit } = ERRORS[error.code];
	return exit === EXIT.failed && command === "run" ? EXIT.notStarted : exit;
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code === "EPIPE") process.exit(EXIT.ok); // `holdfast logs … | head`
	process.stderr.write(`holdfast: cannot write to stdout: ${error.message}\n`);
	process.exit(EXIT.failed);
});

const secrets = new Redactor();
process.exitCode = EXIT.failed; // should everything end before the command has
void main(process.argv.slice(2)).then((code) => {
	process.exitCode = code;
});
