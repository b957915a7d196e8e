#!/usr/bin/env node
/** `holdfast COMMAND …`: find the command, run it, turn what went wrong into a sentence and an exit code. */
import { HoldfastError } from "../../base/errors.js";
import { hideOwnSecrets } from "../../base/own-secrets.js";
import { type Command, EXIT, parseCall, runtimeOpener } from "./command.js";
import { approvals } from "./commands/approvals.js";
import { attach } from "./commands/attach.js";
import { audit } from "./commands/audit.js";
import { cp } from "./commands/cp.js";
import { demo } from "./commands/demo.js";
import { doctor } from "./commands/doctor.js";
import { end } from "./commands/end.js";
import { fileCommands } from "./commands/files.js";
import { close, submit, write } from "./commands/input.js";
import { kill, signal } from "./commands/kill.js";
import { logs } from "./commands/logs.js";
import { mcp } from "./commands/mcp.js";
import { policy } from "./commands/policy.js";
import { process as processCommand } from "./commands/process.js";
import { prune } from "./commands/prune.js";
import { ps } from "./commands/ps.js";
import { record } from "./commands/record.js";
import { run } from "./commands/run.js";
import { sandboxes } from "./commands/sandboxes.js";
import { keys, screen } from "./commands/screen.js";
import { serve } from "./commands/serve.js";
import { setup } from "./commands/setup.js";
import { terminal } from "./commands/terminal.js";
import { wait } from "./commands/wait.js";
import { commandHelp, overview, version } from "./help.js";
import { Output } from "./output.js";

const COMMANDS: readonly Command[] = [
	run,
	ps,
	logs,
	wait,
	write,
	submit,
	close,
	kill,
	signal,
	screen,
	keys,
	attach,
	record,
	terminal,
	processCommand,
	...fileCommands,
	cp,
	approvals,
	audit,
	policy,
	mcp,
	serve,
	end,
	sandboxes,
	prune,
	setup,
	doctor,
	demo,
];

async function main(argv: readonly string[]): Promise<number> {
	const [name, ...rest] = argv;
	const out = new Output({ json: before(rest).includes("--json") });
	try {
		if (name === undefined || name === "help" || name === "--help" || name === "-h") {
			const topic = rest.find((word) => !word.startsWith("-"));
			out.line(topic === undefined ? overview(COMMANDS, out) : commandHelp(find(topic), out));
			return EXIT.ok;
		}
		if (name === "--version" || name === "version") {
			out.line(version());
			return EXIT.ok;
		}
		const command = find(name);
		const { values, words } = parseCall(command, rest);
		if (values.help) {
			out.line(commandHelp(command, out));
			return EXIT.ok;
		}
		const opener = runtimeOpener(values, command === run || command === terminal || command === cp || fileCommands.includes(command) || command === doctor);
		try {
			return await command.run({ values, words, out, runtime: opener.runtime, agent: opener.agent });
		} finally {
			await opener.close();
		}
	} catch (error) {
		out.error(error);
		return exitCodeOf(error, name);
	}
}

function find(name: string): Command {
	const command = COMMANDS.find((candidate) => candidate.name === name);
	if (!command) throw new HoldfastError("INVALID", `there is no command "${name}"; \`holdfast help\` lists them`);
	return command;
}

/** What is before `--` is ours; the rest belongs to the command that is started. */
const before = (argv: readonly string[]): readonly string[] => argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined);

function exitCodeOf(error: unknown, command: string | undefined): number {
	if (!(error instanceof HoldfastError)) return EXIT.failed;
	if (error.code === "INVALID") return EXIT.usage;
	if (error.code === "NOT_FOUND") return EXIT.notFound;
	return command === "run" ? EXIT.notStarted : EXIT.failed;
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code === "EPIPE") process.exit(EXIT.ok); // `holdfast logs … | head`
	throw error;
});

hideOwnSecrets(); // before anything is started that could look
process.exitCode = await main(process.argv.slice(2));
