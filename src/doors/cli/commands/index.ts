/** Every command by its name, in the order of the overview. One is loaded when it is called: what the others need is not loaded. */
import { byName, HoldfastError, typos } from "../../../base/index.js";
import type { Command, CommandBody } from "../command.js";

interface Entry {
	readonly summary: string;
	load(): Promise<CommandBody>;
}

const file = (name: string) => async () => (await import("./files.js")).fileCommand(name);

export const GROUPS: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
	"Start here": {
		serve: {
			summary: "serve the page, the API and MCP: see every terminal in a browser, and take the keyboard",
			load: async () => (await import("./serve.js")).serve,
		},
		setup: { summary: "connect MCP clients (Claude Code, Cursor, Codex and others) to Holdfast", load: async () => (await import("./setup.js")).setup },
		demo: { summary: "see it hold: a server and a terminal survive the SIGKILL of their runtime", load: async () => (await import("./demo.js")).demo },
	},
	"Run and look": {
		run: {
			summary: "start a command that holds; in the foreground, show its output and pass its exit code on",
			load: async () => (await import("./run.js")).run,
		},
		shell: {
			summary: "open an interactive shell that holds, or go back to the one of that name",
			load: async () => (await import("./shell.js")).shell,
		},
		status: {
			summary: "show what runs, what waits for you, and what to do next",
			load: async () => (await import("./status.js")).status,
		},
		ps: { summary: "list processes, newest first, or the persistent shells of tasks", load: async () => (await import("./ps.js")).ps },
		logs: { summary: "print the output of a process", load: async () => (await import("./logs.js")).logs },
		attach: { summary: "put your terminal on a running process: see it, type into it", load: async () => (await import("./attach.js")).attach },
		link: { summary: "print a link to one terminal, to look at it or to take its keyboard once", load: async () => (await import("./link.js")).link },
		preview: {
			summary: "print a link that shows a port of a process in a browser, wherever the process runs",
			load: async () => (await import("./preview.js")).preview,
		},
		wait: { summary: "wait until a process exits, prints something, answers, or falls silent", load: async () => (await import("./wait.js")).wait },
		screen: { summary: "show the rendered screen of a process on a terminal, and what it waits for", load: async () => (await import("./screen.js")).screen },
		keys: { summary: "type keys into a process on a terminal, then show its screen", load: async () => (await import("./screen.js")).keys },
		write: { summary: "write to the stdin of a process, exactly what is given", load: async () => (await import("./input.js")).write },
		submit: { summary: "write a line: the text and Enter", load: async () => (await import("./input.js")).submit },
		close: { summary: "end the input of a process (end of file; Ctrl-D on a terminal)", load: async () => (await import("./input.js")).close },
		kill: { summary: "end a process and everything it started, and verify that all are gone", load: async () => (await import("./kill.js")).kill },
		signal: { summary: "send one signal, such as INT, HUP or USR1", load: async () => (await import("./kill.js")).signal },
		record: { summary: "export what a terminal printed, with its times, as asciicast v2", load: async () => (await import("./record.js")).record },
	},
	"What agents do": {
		approvals: {
			summary: "show and answer the commands that agents need a person's approval for",
			load: async () => (await import("./approvals.js")).approvals,
		},
		audit: {
			summary: "show what agents asked for, what was decided and by whom, what ran and how it ended",
			load: async () => (await import("./audit.js")).audit,
		},
		log: {
			summary: "show all that a task did: commands, files, questions, notices; live, searched or exported",
			load: async () => (await import("./log.js")).log,
		},
		policy: { summary: "show what the rules decide about a command, without running it", load: async () => (await import("./policy.js")).policy },
		tasks: {
			summary: "list tasks: whether their client is connected, what runs and waits, and their last activity",
			load: async () => (await import("./tasks.js")).tasks,
		},
		end: { summary: "end a task: its processes, shells and sandboxes, and say what was stopped", load: async () => (await import("./end.js")).end },
		mcp: { summary: "serve the tools to an MCP client, on stdin and stdout or over HTTP", load: async () => (await import("./mcp.js")).mcp },
	},
	"An agent's tools by hand": {
		terminal: { summary: "run a command in the task's persistent shell", load: async () => (await import("./terminal.js")).terminal },
		process: { summary: "look after the task's processes", load: async () => (await import("./process.js")).process },
		"read-file": { summary: "read lines of a file, with their numbers", load: file("read-file") },
		"write-file": { summary: "write a whole file, or nothing", load: file("write-file") },
		patch: { summary: "replace text in a file, or apply a diff", load: file("patch") },
		"search-files": { summary: "search in files, or for files", load: file("search-files") },
	},
	"Places and upkeep": {
		cp: { summary: "copy files and folders between this machine and a task's place", load: async () => (await import("./cp.js")).cp },
		sandboxes: { summary: "list, stop and remove the sandboxes and containers of tasks", load: async () => (await import("./sandboxes.js")).sandboxes },
		doctor: { summary: "check what this machine can do, and find what crashes left behind", load: async () => (await import("./doctor.js")).doctor },
		completion: { summary: "print the script that completes commands in bash, zsh or fish", load: async () => (await import("./completion.js")).completion },
		man: { summary: "show the manual page of a command, or write them all", load: async () => (await import("./man.js")).man },
		prune: { summary: "forget processes that ended long ago, with their output", load: async () => (await import("./prune.js")).prune },
	},
};

const COMMANDS: ReadonlyMap<string, Entry> = new Map(Object.values(GROUPS).flatMap((group) => Object.entries(group)));

/** Names from other tools that people may type. */
const OTHER_NAMES = byName<string>({
	...{
		list: "ps",
		ls: "ps",
		top: "ps",
		tail: "logs",
		stop: "kill",
		rm: "prune",
		start: "run",
		exec: "run",
		send: "write",
		bash: "shell",
		sh: "shell",
	},
	...{ "-v": "--version", "-V": "--version" },
});

export async function commandNamed(name: string): Promise<Command> {
	const entry = COMMANDS.get(name);
	if (entry) return { ...(await entry.load()), summary: entry.summary };
	const meant = meantBy(name);
	if (meant !== undefined) throw new HoldfastError("INVALID", `there is no command "${name}"; did you mean \`holdfast ${meant}\`?`);
	if (name.startsWith("-"))
		throw new HoldfastError("INVALID", `options come after the command: holdfast COMMAND ${name} …; \`holdfast help\` lists the commands`);
	throw new HoldfastError("INVALID", `there is no command "${name}"; \`holdfast help\` lists them`);
}

/** The command that has this name elsewhere, or whose name differs by one or two letters. */
function meantBy(name: string): string | undefined {
	if (Object.hasOwn(OTHER_NAMES, name)) return OTHER_NAMES[name];
	const names = name.startsWith("-") ? [] : [...COMMANDS.keys(), ...Object.keys(OTHER_NAMES)];
	const ranked = names.map((known) => ({ known, away: typos(name, known) })).sort((a, b) => a.away - b.away);
	const near = ranked.find(({ known, away }) => away <= (known.length > 4 ? 2 : 1))?.known;
	return near === undefined ? undefined : (OTHER_NAMES[near] ?? near);
}
