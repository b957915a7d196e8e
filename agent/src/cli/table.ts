/** The commands: what there is, how each is called, and where its code is. The code is loaded when it is run, so that help costs nothing. */
import type { ParseArgsConfig } from "node:util";
import type { Output } from "./output.js";

export interface OptionSpec {
	readonly type: "string" | "boolean";
	readonly short?: string;
	/** What its value is called. */
	readonly value?: string;
	readonly help: string;
}
type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface Call {
	readonly values: Readonly<Record<string, string | boolean | undefined>>;
	readonly words: readonly string[];
	readonly out: Output;
}

export interface Command {
	readonly name: string;
	/** In the list of commands; default: the name. */
	readonly shown?: string;
	readonly group: "Talk" | "Conversations" | "Settings" | "More";
	readonly summary: string;
	/** Behind the name of the program. */
	readonly usage: string;
	readonly options: OptionSpecs;
	readonly teach: string;
	/** How many words it takes besides its options. */
	readonly words: { readonly most: number; readonly what?: string };
	load(): Promise<{ run(call: Call): Promise<number> }>;
}

/** Settings of agent.json that a flag replaces for one call. */
const SETTINGS: OptionSpecs = {
	model: { type: "string", short: "m", value: "NAME", help: "the model, as the endpoint names it" },
	endpoint: { type: "string", value: "NAME", help: "an endpoint of agent.json" },
	reasoning: { type: "string", value: "EFFORT", help: "how hard the model thinks: low, medium or high" },
	place: { type: "string", value: "PLACE", help: "where commands run: local, local+sandbox, ssh://…" },
	toolsets: { type: "string", short: "t", value: "A,B", help: "sets of tools: terminal,file,…" },
	steps: { type: "string", value: "N", help: "model requests in a turn, at most" },
};
const RESUMES: OptionSpecs = {
	continue: { type: "boolean", short: "c", help: "go on with the last conversation" },
	resume: { type: "string", short: "r", value: "ID", help: "go on with this one: an id or a title" },
};
const JSON_OUT: OptionSpecs = { json: { type: "boolean", help: "print JSON" } };
export const HELP: OptionSpecs = { help: { type: "boolean", short: "h", help: "show this help" } };

export const COMMANDS: readonly Command[] = [
	{
		name: "chat",
		shown: "chat (default)",
		group: "Talk",
		summary: "talk in the terminal",
		usage: "[chat] [OPTIONS]",
		options: { ...RESUMES, ...SETTINGS, quiet: { type: "boolean", help: "only answers: no banner, no status, no colours" } },
		teach: `Enter sends. While the agent works, Enter tells it something right away and
Alt+Enter after it is done; Esc interrupts it. Ctrl-J breaks a line. !COMMAND
runs in the agent's own shell, !!COMMAND shows it the output too. /help lists
the commands. Leaving ends nothing: processes go on, and --continue comes back.

Examples
  holdfast-agent
  holdfast-agent --continue
  holdfast-agent -t terminal,file --place local+sandbox`,
		words: { most: 0 },
		load: () => import("./run/chat.js"),
	},
	{
		name: "once",
		shown: "-q TEXT, -f FILE",
		group: "Talk",
		summary: "one message, one answer; for scripts",
		usage: "-q TEXT | -f FILE [OPTIONS]",
		options: {
			q: { type: "string", short: "q", value: "TEXT", help: "the message" },
			f: { type: "string", short: "f", value: "FILE", help: "the message is in this file; - is stdin" },
			...RESUMES,
			...SETTINGS,
			json: { type: "boolean", help: "print each event as a line of JSON" },
			linger: { type: "string", value: "SECONDS", help: "wait so long for processes that report their end" },
		},
		teach: `Prints the answer, and nothing else, on stdout. What needs a person's approval
is not run: its id is printed on stderr, and after \`holdfast approvals answer\`
the same conversation goes on with --resume.

Exit code: 0 answered, 1 failed, 2 wrong use, 3 waits for an approval,
4 too many steps, 130 interrupted.

Examples
  holdfast-agent -q "why does make fail?" -t terminal,file
  git diff | holdfast-agent -f - -t safe
  holdfast-agent --resume 20261116_064410_a1b2c3 -q "go on"`,
		words: { most: 0 },
		load: () => import("./run/once.js"),
	},
	{
		name: "sessions",
		group: "Conversations",
		summary: "list conversations, the last used first",
		usage: "sessions [TEXT] [OPTIONS]",
		options: { ...JSON_OUT, limit: { type: "string", value: "N", help: "how many (default: 20)" } },
		teach: `With TEXT only those with it in their title, id or first message.

Examples
  holdfast-agent sessions
  holdfast-agent --resume "deploy page"`,
		words: { most: 1, what: "a text" },
		load: () => import("./run/sessions.js"),
	},
	{
		name: "export",
		group: "Conversations",
		summary: "write a conversation as JSON for other programs",
		usage: "export ID [OPTIONS]",
		options: {
			format: { type: "string", value: "FORMAT", help: "openai (default), anthropic or sharegpt" },
			output: { type: "string", short: "o", value: "FILE", help: "write there instead of stdout" },
		},
		teach: `ID is an id, the beginning of one, or a title. Keys are masked.

Examples
  holdfast-agent export a1b2c3 --format anthropic -o talk.json`,
		words: { most: 1, what: "one conversation" },
		load: () => import("./run/export.js"),
	},
	{
		name: "setup",
		group: "Settings",
		summary: "choose endpoint, key, model, place and tools",
		usage: "setup [STEP] [OPTIONS]",
		options: {
			check: { type: "boolean", help: "try what is set, change nothing" },
			json: { type: "string", value: "FILE", help: "take the answers from this file; - is stdin" },
		},
		teach: `STEP is endpoint, key, model, place or toolsets; without it all of them are
asked. What you enter is tried before it is saved.

Examples
  holdfast-agent setup
  holdfast-agent setup model
  holdfast-agent setup --check
  echo '{ "url": "http://localhost:11434/v1", "model": "qwen3" }' |
    holdfast-agent setup --json -`,
		words: { most: 1, what: "one step" },
		load: () => import("./run/setup.js"),
	},
	{
		name: "config",
		group: "Settings",
		summary: "show every setting and where it comes from",
		usage: "config [KEY] [OPTIONS]",
		options: { ...JSON_OUT, ...SETTINGS },
		teach: `With KEY only settings whose names begin with it. A flag counts before
agent.json, agent.json before the default.

Examples
  holdfast-agent config limits
  holdfast-agent config --json`,
		words: { most: 1, what: "a key" },
		load: () => import("./run/config.js"),
	},
	{
		name: "toolsets",
		group: "Settings",
		summary: "show which sets of tools are on, which are off and why",
		usage: "toolsets [OPTIONS]",
		options: { ...JSON_OUT, toolsets: SETTINGS.toolsets as OptionSpec, place: SETTINGS.place as OptionSpec },
		teach: `Examples
  holdfast-agent toolsets
  holdfast-agent toolsets --toolsets terminal,file`,
		words: { most: 0 },
		load: () => import("./run/toolsets.js"),
	},
	{
		name: "models",
		group: "Settings",
		summary: "list the models of the endpoint",
		usage: "models [TEXT] [OPTIONS]",
		options: { ...JSON_OUT, endpoint: SETTINGS.endpoint as OptionSpec },
		teach: `With TEXT only those with it in their name.

Examples
  holdfast-agent models claude`,
		words: { most: 1, what: "a text" },
		load: () => import("./run/models.js"),
	},
];

export const commandNamed = (name: string): Command | undefined => COMMANDS.find((command) => command.name === name);

export function parseOptions({ options }: Command): NonNullable<ParseArgsConfig["options"]> {
	return Object.fromEntries(
		Object.entries({ ...options, ...HELP }).map(([name, { type, short }]) => [
			name,
			{ type, ...(short && short !== name ? { short } : short ? { short } : {}) },
		]),
	);
}
