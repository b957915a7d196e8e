/** Every command by its name, in the order of the overview. One is loaded when it is called: what the others need costs nobody anything. */
import { HoldfastError } from "../../../base/errors.js";
import type { Command } from "../command.js";

const files = (name: string) => async () => (await import("./files.js")).fileCommand(name);

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
	run: async () => (await import("./run.js")).run,
	ps: async () => (await import("./ps.js")).ps,
	logs: async () => (await import("./logs.js")).logs,
	wait: async () => (await import("./wait.js")).wait,
	write: async () => (await import("./input.js")).write,
	submit: async () => (await import("./input.js")).submit,
	close: async () => (await import("./input.js")).close,
	kill: async () => (await import("./kill.js")).kill,
	signal: async () => (await import("./kill.js")).signal,
	screen: async () => (await import("./screen.js")).screen,
	keys: async () => (await import("./screen.js")).keys,
	attach: async () => (await import("./attach.js")).attach,
	record: async () => (await import("./record.js")).record,
	terminal: async () => (await import("./terminal.js")).terminal,
	process: async () => (await import("./process.js")).process,
	"read-file": files("read-file"),
	"write-file": files("write-file"),
	patch: files("patch"),
	"search-files": files("search-files"),
	cp: async () => (await import("./cp.js")).cp,
	approvals: async () => (await import("./approvals.js")).approvals,
	audit: async () => (await import("./audit.js")).audit,
	policy: async () => (await import("./policy.js")).policy,
	mcp: async () => (await import("./mcp.js")).mcp,
	serve: async () => (await import("./serve.js")).serve,
	end: async () => (await import("./end.js")).end,
	sandboxes: async () => (await import("./sandboxes.js")).sandboxes,
	prune: async () => (await import("./prune.js")).prune,
	setup: async () => (await import("./setup.js")).setup,
	doctor: async () => (await import("./doctor.js")).doctor,
	demo: async () => (await import("./demo.js")).demo,
};

export const allCommands = (): Promise<Command[]> => Promise.all(Object.values(COMMANDS).map((load) => load()));

export function commandNamed(name: string): Promise<Command> {
	const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
	if (!load && name.startsWith("-"))
		throw new HoldfastError("INVALID", `options come behind the command: holdfast COMMAND ${name} …; \`holdfast help\` lists the commands`);
	if (!load) throw new HoldfastError("INVALID", `there is no command "${name}"; \`holdfast help\` lists them`);
	return load();
}
