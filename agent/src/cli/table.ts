/** The commands: what there is, how each is called, and where its code is. The code is loaded when it is run, so that help costs nothing. */
import type { ParseArgsConfig } from "node:util";
import type { Output } from "./output.js";

export interface OptionSpec {
	readonly type: "string" | "boolean";
	readonly short?: string;
	/** The name of its value. */
	readonly value?: string;
	readonly help: string;
	/** It may be given several times. */
	readonly multiple?: boolean;
}
type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface Call {
	readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
	readonly words: readonly string[];
	readonly out: Output;
}

export interface Command {
	readonly name: string;
	/** In the list of commands; default: the name. */
	readonly shown?: string;
	readonly group: "Talk" | "Conversations" | "Platforms" | "Evaluate" | "Settings" | "More";
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
/** A queue of NATS. */
const QUEUE: OptionSpecs = {
	nats: { type: "string", value: "URL", help: "nats://HOST:4222: play it on the workers there" },
	creds: { type: "string", value: "FILE", help: "credentials of NATS" },
};
const COLLECTS: OptionSpecs = {
	lease: { type: "string", value: "SECONDS", help: "how long a silent worker keeps a job (default: 60)" },
	"proof-wait": { type: "string", value: "SECONDS", help: "how long to wait for workers' proofs (default: 30)" },
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
		summary: "write a conversation or a run for other programs",
		usage: "export ID|RUN [OPTIONS]",
		options: {
			format: { type: "string", value: "FORMAT", help: "default: openai; see below" },
			output: { type: "string", short: "o", value: "FILE", help: "write there instead of stdout" },
			only: { type: "string", value: "A,B", help: "of a run: scored, recorded, error (default: all)" },
			clean: { type: "boolean", help: "of a run: no damaged ones, no unknown tools" },
		},
		teach: `ID is the id of a conversation, the beginning of one, or a title; it is written
as openai, anthropic or sharegpt. RUN is the folder of a run; its episodes are
written a line each, as openai, sharegpt, hermes, atif, rollouts (token ids),
predictions (for the harness of SWE-bench), or as harbor: a folder. Keys are
masked.

Examples
  holdfast-agent export a1b2c3 --format anthropic -o talk.json
  holdfast-agent export ./run1 --format sharegpt --only scored -o rows.jsonl
  holdfast-agent export ./run1 --format harbor -o jobs/run1`,
		words: { most: 1, what: "one conversation or run" },
		load: () => import("./run/export.js"),
	},
	{
		name: "run",
		group: "Evaluate",
		summary: "let a model do many tasks, with one result each",
		usage: "run TASKS [OPTIONS]",
		options: {
			...SETTINGS,
			place: { type: "string", value: "PLACE", multiple: true, help: "where commands run; several make a pool" },
			pool: { type: "string", value: "FILE", help: 'places with slots: [{"place": …, "slots": 4}, …]' },
			output: { type: "string", short: "o", value: "DIR", help: "where the run is kept (default: runs/ in the home)" },
			agent: { type: "string", value: "WHO", help: "model (default), oracle, nop, or a command of the place" },
			concurrency: { type: "string", value: "N", help: "episodes at a time (default: 4)" },
			repeats: { type: "string", value: "N", help: "episodes for each task (default: 1)" },
			seconds: { type: "string", value: "N", help: "how long an episode may take (default: 1800)" },
			"retry-wait": { type: "string", value: "SECONDS", help: "before the first retry (default: 5)" },
			...QUEUE,
			...COLLECTS,
			json: { type: "boolean", help: "print each event as a line of JSON" },
		},
		teach: `TASKS is terminal-test or examples (three small tasks each), a folder, .tar.gz or
git URL of tasks in Harbor's format, or a .jsonl file with SWE-bench rows or a
prompt in each line: {"prompt": "…", "expect": {"file": "a.txt", "content":
"…"}}. With expect an episode is scored: 1 if the
file has this content, 0.5 if it contains it, else 0. Commands run in a sandbox
for each episode unless --place says otherwise.

While it runs: show, attach, take, pause, set, cancel, requeue and view. After
kill -9, resume goes on. Ctrl-C ends what is under way; once more leaves at once.

Exit code: 0 each episode has its result and nothing is left, 1 not so, 130
interrupted.

Examples
  holdfast-agent run terminal-test -t terminal
  holdfast-agent run prompts.jsonl -t terminal,file --concurrency 8 -o ./run1
  holdfast-agent run ./tasks --place ssh://box1 --place ssh://box2 --repeats 4
  holdfast-agent resume ./run1`,
		words: { most: 1, what: "the tasks" },
		load: () => import("./run/run.js"),
	},
	{
		name: "resume",
		group: "Evaluate",
		summary: "go on with a run that was stopped, killed or paused",
		usage: "resume RUN [OPTIONS]",
		options: {
			concurrency: { type: "string", value: "N", help: "episodes at a time (default: as the run began)" },
			"retry-wait": { type: "string", value: "SECONDS", help: "before the first retry (default: 5)" },
			json: { type: "boolean", help: "print each event as a line of JSON" },
		},
		teach: `What a killed program has left is ended first. Episodes that have a result are
not run again. One program runs a run at a time.

Examples
  holdfast-agent resume ./run1`,
		words: { most: 1, what: "one run" },
		load: () => import("./run/resume.js"),
	},
	{
		name: "collect",
		group: "Evaluate",
		summary: "go on with a run that workers on other machines play",
		usage: "collect RUN --nats URL [OPTIONS]",
		options: { ...QUEUE, ...COLLECTS, json: { type: "boolean", help: "print each event as a line of JSON" } },
		teach: `run --nats begins such a run and does the same. Jobs are given to the workers,
and what they hand in goes to the ledger, once each. What the queue has lost is
given out again. Ctrl-C leaves; workers go on.

Exit code: 0 each episode has its result and each worker has proved that nothing
is left there, 1 not so.

Examples
  holdfast-agent run ./tasks -o ./run1 --nats nats://queue:4222
  holdfast-agent collect ./run1 --nats nats://queue:4222`,
		words: { most: 1, what: "one run" },
		load: () => import("./run/collect.js"),
	},
	{
		name: "atropos",
		group: "Evaluate",
		summary: "send groups of a run to a trainer of Atropos",
		usage: "atropos RUN --url URL [OPTIONS]",
		options: {
			url: { type: "string", value: "URL", help: "of the trainer: http://HOST:8000" },
			"max-tokens": { type: "string", value: "N", help: "longer sequences are not sent (default: 32768)" },
			json: { type: "boolean", help: "print JSON" },
		},
		teach: `While the run goes on, or afterwards. A group is the repeats of one item; it is
sent when all have a reward and token ids in one segment, and the rewards are not
equal. Others are counted with the reason. No group is sent twice, also after
kill -9. While much waits at the trainer the run is paused.

Examples
  holdfast-agent run prompts.jsonl -t terminal --repeats 8 -o ./run1 &
  holdfast-agent atropos ./run1 --url http://localhost:8000`,
		words: { most: 1, what: "one run" },
		load: () => import("./run/atropos.js"),
	},
	{
		name: "worker",
		group: "Evaluate",
		summary: "play episodes of runs that other machines have begun",
		usage: "worker --nats URL [OPTIONS]",
		options: {
			...QUEUE,
			dir: { type: "string", value: "DIR", help: "of this worker alone (default: worker/ in the home)" },
			name: { type: "string", value: "NAME", help: "default: the host and its folder" },
			concurrency: { type: "string", value: "N", help: "episodes at a time (default: 4)" },
			once: { type: "boolean", help: "end when the runs that it had a part in are over" },
		},
		teach: `Endpoints and keys are those of this machine; the endpoint has the name that
the run names. A worker that comes back to its folder first ends what it had
left there, and hands in what was not stored yet. Ctrl-C ends what is under way
and gives its jobs back.

Examples
  holdfast-agent worker --nats nats://queue:4222 --concurrency 8`,
		words: { most: 0 },
		load: () => import("./run/worker.js"),
	},
	{
		name: "show",
		group: "Evaluate",
		summary: "show the episodes of a run and its numbers, or one episode",
		usage: "show RUN [INDEX] [OPTIONS]",
		options: JSON_OUT,
		teach: `Works while the run is under way, too.

Examples
  holdfast-agent show ./run1
  holdfast-agent show ./run1 17`,
		words: { most: 2, what: "one run and an index" },
		load: () => import("./run/show.js"),
	},
	{
		name: "view",
		group: "Evaluate",
		summary: "see a run in a browser, live",
		usage: "view RUN [OPTIONS]",
		options: { port: { type: "string", value: "N", help: "the port on 127.0.0.1 (default: any that is free)" } },
		teach: `Serves the page on this machine and prints a link that opens it: the outcomes of
all episodes, one beside the terminals that it had, what the tests printed, and
what was left. A terminal under way can be watched, and its keyboard taken.

Examples
  holdfast-agent view ./run1`,
		words: { most: 1, what: "one run" },
		load: () => import("./run/view.js"),
	},
	{
		name: "attach",
		group: "Evaluate",
		summary: "watch the terminal of an episode that is under way",
		usage: "attach RUN INDEX",
		options: {},
		teach: `Waits until the episode runs a command, and shows it until that ends. Ctrl-]
leaves. Nothing is typed; take is for that.

Examples
  holdfast-agent attach ./run1 17`,
		words: { most: 2, what: "one run and an index" },
		load: async () => ({ run: (await import("./run/attach.js")).attach }),
	},
	{
		name: "take",
		group: "Evaluate",
		summary: "type into the terminal of an episode that is under way",
		usage: "take RUN INDEX",
		options: {},
		teach: `The first key takes the keyboard: what the agent writes is refused until you
leave with Ctrl-]. The result says that a person had it.

Examples
  holdfast-agent take ./run1 17`,
		words: { most: 2, what: "one run and an index" },
		load: async () => ({ run: (await import("./run/attach.js")).take }),
	},
	{
		name: "pause",
		group: "Evaluate",
		summary: "let no more episodes of a run start; resume goes on",
		usage: "pause RUN",
		options: {},
		teach: `What runs goes on. Requests like this one are kept in the run: they count also
for the next program that runs it.

Examples
  holdfast-agent pause ./run1
  holdfast-agent resume ./run1`,
		words: { most: 1, what: "one run" },
		load: async () => ({ run: (await import("./run/ask.js")).pause }),
	},
	{
		name: "set",
		group: "Evaluate",
		summary: "change how many episodes run at a time",
		usage: "set RUN concurrency=N",
		options: {},
		teach: `Examples
  holdfast-agent set ./run1 concurrency=16`,
		words: { most: 2, what: "one run and a setting" },
		load: async () => ({ run: (await import("./run/ask.js")).set }),
	},
	{
		name: "cancel",
		group: "Evaluate",
		summary: "end one episode; its result is an error",
		usage: "cancel RUN INDEX",
		options: {},
		teach: `One that waits is not begun. requeue makes it again.

Examples
  holdfast-agent cancel ./run1 17`,
		words: { most: 2, what: "one run and an index" },
		load: async () => ({ run: (await import("./run/ask.js")).cancel }),
	},
	{
		name: "requeue",
		group: "Evaluate",
		summary: "take the result of one episode back and make it again",
		usage: "requeue RUN INDEX",
		options: {},
		teach: `The attempt that it had stays on record, with its tokens and files.

Examples
  holdfast-agent requeue ./run1 17`,
		words: { most: 2, what: "one run and an index" },
		load: async () => ({ run: (await import("./run/ask.js")).requeue }),
	},
	{
		name: "rescore",
		group: "Evaluate",
		summary: "score episodes again, without running them",
		usage: "rescore RUN [INDEX] [OPTIONS]",
		options: { json: { type: "boolean", help: "print each event as a line of JSON" } },
		teach: `Without INDEX all that have a result. It needs the directory that the episode
worked in, so it must have run on this machine, in no container. One that cannot
be scored again keeps its score.

Examples
  holdfast-agent rescore ./run1
  holdfast-agent rescore ./run1 17`,
		words: { most: 2, what: "one run and an index" },
		load: async () => ({ run: (await import("./run/ask.js")).rescore }),
	},
	{
		name: "replay",
		group: "Evaluate",
		summary: "play an episode again with its recorded answers",
		usage: "replay RUN INDEX [OPTIONS]",
		options: JSON_OUT,
		teach: `No model is asked. The commands run in a fresh place, and the first whose result
is another one is named. Exit code 1 if there is one.

Examples
  holdfast-agent replay ./run1 17`,
		words: { most: 2, what: "one run and an index" },
		load: () => import("./run/replay.js"),
	},
	{
		name: "compare",
		group: "Evaluate",
		summary: "compare two runs of the same tasks",
		usage: "compare RUN_A RUN_B [OPTIONS]",
		options: JSON_OUT,
		teach: `Episodes are paired by task (name and digest) and repeat. First those that one
run has solved and the other has not.

Examples
  holdfast-agent compare ./run1 ./run2`,
		words: { most: 2, what: "two runs" },
		load: () => import("./run/compare.js"),
	},
	{
		name: "tasks",
		group: "Evaluate",
		summary: "check tasks: what can be run, what is wrong",
		usage: "tasks PATH [OPTIONS]",
		options: JSON_OUT,
		teach: `PATH is a task in Harbor's format (a folder with task.toml), a folder of such
tasks, or a .jsonl file with a prompt or a SWE-bench instance in each line.
Nothing is started. Exit code 1 if one of them cannot be run.

Examples
  holdfast-agent tasks ./terminal-bench
  holdfast-agent tasks prompts.jsonl --json`,
		words: { most: 1, what: "one path" },
		load: () => import("./run/tasks.js"),
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
asked. platform adds a chat platform for the gateway. What you enter is tried
before it is saved.

Examples
  holdfast-agent setup
  holdfast-agent setup model
  holdfast-agent setup platform
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
	{
		name: "gateway",
		group: "Platforms",
		summary: "talk from Telegram, Slack, Discord and others",
		usage: "gateway [install|status] [OPTIONS]",
		options: {
			json: { type: "boolean", help: "status: print JSON" },
			yes: { type: "boolean", help: "install: do not ask" },
			"no-start": { type: "boolean", help: "install: only write the unit" },
		},
		teach: `Runs in the foreground until it is told to stop; nothing that it has started
ends with it, and it goes on where it was. install shows a unit for systemd,
then writes and starts it. Platforms are set up with setup platform.

Exit code: 78 if another gateway has the account, or no platform takes it.

Examples
  holdfast-agent setup platform
  holdfast-agent gateway
  holdfast-agent gateway install`,
		words: { most: 1, what: "install or status" },
		load: () => import("./run/gateway.js"),
	},
	{
		name: "pairing",
		group: "Platforms",
		summary: "who may write to it from there",
		usage: "pairing [list|approve CODE|revoke WHO] [OPTIONS]",
		options: { ...JSON_OUT, role: { type: "string", value: "ROLE", help: "talk (default), approve or admin" } },
		teach: `A stranger who writes is told a code that counts for an hour. approve lets them
in: talk may write, approve may also allow commands, admin may do everything.

Examples
  holdfast-agent pairing list
  holdfast-agent pairing approve K7M2PQ4X --role approve
  holdfast-agent pairing revoke telegram/123456`,
		words: { most: 2, what: "a verb and a code or person" },
		load: () => import("./run/pairing.js"),
	},
];

export const commandNamed = (name: string): Command | undefined => COMMANDS.find((command) => command.name === name);

export function parseOptions({ options }: Command): NonNullable<ParseArgsConfig["options"]> {
	return Object.fromEntries(
		Object.entries({ ...options, ...HELP }).map(([name, { type, short, multiple }]) => [
			name,
			{ type, ...(multiple ? { multiple } : {}), ...(short && short !== name ? { short } : short ? { short } : {}) },
		]),
	);
}
