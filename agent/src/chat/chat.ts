/** `holdfast-agent`: a conversation in the terminal. The line at the bottom is always there; whatever happens is printed above it. */
import os from "node:os";
import path from "node:path";
import { AgentError } from "../base/index.js";
import type { Origin } from "../talk/index.js";
import type { Conversation } from "../turn/index.js";
import { type Agent, type AgentSettings, openAgent } from "./agent.js";
import { bannerLines, factsOf } from "./banner.js";
import { type CommandContext, runSlash, SLASH_COMMANDS } from "./commands/index.js";
import { EXIT, exitOf } from "./exit.js";
import { complete } from "./line/complete.js";
import { InputHistory } from "./line/history.js";
import { LiveTerminal } from "./line/live.js";
import { PlainTerminal } from "./line/plain.js";
import type { ChatInput, ChatTerminal } from "./line/terminal.js";
import { askPassword } from "./question.js";
import { isDumb } from "./render/look.js";
import { visible } from "./render/visible.js";
import { wrapLaidOut } from "./render/wrap.js";
import { type OwnCommand, ownCommand, runOwn, tellText } from "./shell.js";
import { checkSize } from "./size.js";
import { recapLines } from "./view/recap.js";
import { View } from "./view/view.js";
import { type TurnEnded, watch } from "./watch.js";

const PLATFORM = "chat";
const TWICE_MS = 2_000;
/** Zero bytes, and what Node makes of bytes that are no UTF-8. */
const NO_TEXT = /[\0\uFFFD]/;

export interface ChatOptions {
	readonly settings: AgentSettings;
	readonly resume?: string | true;
	readonly quiet: boolean;
	readonly cwd?: string;
}

/** Resolves with the exit code when the person has left. */
export async function runChat(options: ChatOptions): Promise<number> {
	const person = process.stdin.isTTY === true;
	const live = person && process.stdout.isTTY && !isDumb() && !options.quiet;
	if (live) process.stdin.setRawMode(true); // what is typed until the line is there must not be shown twice, nor its Enter be taken for a line break
	const agent = await openAgent({
		settings: options.settings,
		door: { name: "chat", kind: "chat", nobody: () => (person ? undefined : "the chat has no terminal") },
		cwd: options.cwd ?? process.cwd(),
		...(options.resume === undefined ? {} : { resume: options.resume }),
	}).catch((error: unknown) => {
		if (live) process.stdin.setRawMode(false);
		throw error;
	});
	const chat = new Chat(agent, options, live);
	try {
		return await chat.run();
	} finally {
		chat.close();
		await agent.close();
	}
}

class Chat implements ChatInput {
	readonly #agent: Agent;
	readonly #quiet: boolean;
	readonly #terminal: ChatTerminal;
	readonly #view: View;
	readonly #by: Origin = { platform: PLATFORM, person: os.userInfo().username };
	readonly #left: Promise<number>;
	#leave: (code: number) => void = () => {};
	#gone = false;
	/** Ends the watch on the shown conversation. */
	#watching = new AbortController();
	/** The person's own command. */
	#own: AbortController | undefined;
	#directory: string;
	#lastInterrupt = 0;
	readonly #work = new Map<string, Promise<unknown>>();
	#lastEnd: TurnEnded | undefined;
	/** A line of a pipe could not be taken. */
	#refused = false;

	constructor(agent: Agent, { quiet }: ChatOptions, live: boolean) {
		this.#agent = agent;
		this.#quiet = quiet;
		this.#directory = agent.cwd;
		this.#left = new Promise((resolve) => {
			this.#leave = (code) => {
				this.#gone = true;
				resolve(code);
			};
		});
		const history = new InputHistory(path.join(agent.settings.home.root, "history"), agent.keys.redact);
		this.#terminal = live
			? new LiveTerminal(process.stdin, process.stdout, history, this)
			: new PlainTerminal({ input: process.stdin, output: process.stdout }, this);
		this.#view = new View(this.#terminal, {
			quiet,
			platform: PLATFORM,
			raw: !process.stdout.isTTY,
			warn: (text) => process.stderr.write(`holdfast-agent: ${text}\n`),
		});
	}

	async run(): Promise<number> {
		const stop = this.#agent.runtime.sudo.attend(({ task, signal }) =>
			task === this.#conversation.task.name ? askPassword(this.#terminal, signal) : Promise.resolve(null),
		);
		const end = () => this.#leave(EXIT.interrupted);
		process.once("SIGTERM", end).once("SIGHUP", end);
		try {
			this.#greet();
			this.#watch();
			return await this.#left;
		} finally {
			process.off("SIGTERM", end).off("SIGHUP", end);
			stop();
			this.#goodbye();
		}
	}

	close(): void {
		this.#watching.abort();
		this.#own?.abort();
		this.#view.close();
		this.#terminal.close();
	}

	line(text: string, { queue }: { readonly queue: boolean }): void {
		this.#lastInterrupt = 0;
		// Messages go one after the other, and so do the person's own commands; neither waits for the other. Of a pipe each line waits for the one before.
		const kind = !this.#terminal.person ? "pipe" : text.startsWith("!") ? "own" : text.startsWith("/") ? "slash" : "message";
		const before = kind === "slash" ? undefined : this.#work.get(kind);
		const work = (before ?? Promise.resolve()).then(() => this.#do(text, queue)).catch((error: unknown) => this.#failed(error));
		this.#work.set(kind, work);
	}

	interrupt(key: "escape" | "ctrl+c"): void {
		const again = key === "ctrl+c" && Date.now() - this.#lastInterrupt < TWICE_MS;
		if (key === "ctrl+c") this.#lastInterrupt = Date.now();
		if (again) this.#leave(EXIT.interrupted);
		else if (this.#own) this.#own.abort();
		else
			void this.#conversation.interrupt().then((stopped) => {
				if (!stopped && key === "ctrl+c") this.#say("Ctrl-C again leaves; what runs goes on.", "dim");
			});
	}

	/** Leaves; a pipe only after all that was read is answered. */
	leave(): void {
		if (this.#terminal.person) this.#leave(EXIT.answered);
		else
			void Promise.resolve(this.#work.get("pipe"))
				.then(() => (this.#gone ? undefined : this.#conversation.idle()))
				.then(() => this.#leave(exitOf(this.#lastEnd) || (this.#refused ? EXIT.failed : EXIT.answered)));
	}

	takeBack(): boolean {
		const last = this.#conversation.waiting().findLast(({ kind }) => kind === "user");
		if (!last) return false;
		this.#conversation.takeBack(last.id).then(
			(text) => text !== undefined && this.#terminal.putBack(text),
			(error: unknown) => this.#failed(error),
		);
		return true;
	}

	complete(before: string) {
		return complete(before, {
			commands: SLASH_COMMANDS.map(({ name }) => name),
			words: (name) => SLASH_COMMANDS.find((command) => command.name === name)?.words?.(this.#context),
			directory: /^local\b/.test(this.#conversation.place) ? this.#directory : undefined,
		});
	}

	get #conversation(): Conversation {
		return this.#agent.conversation;
	}

	get #context(): CommandContext {
		return {
			agent: this.#agent,
			by: this.#by,
			open: async (id) => {
				await this.#agent.open(id);
				if (id !== undefined) this.#greet();
				this.#watch();
			},
			leave: () => this.#leave(EXIT.answered),
		};
	}

	/** A line of a pipe is done when it is answered. Nobody is there for what stands behind `/quit`. */
	async #do(text: string, queue: boolean): Promise<void> {
		if (this.#gone) return;
		await this.#take(text, queue);
		if (!this.#terminal.person && !this.#gone) await this.#conversation.idle();
	}

	async #take(text: string, queue: boolean): Promise<void> {
		if (!this.#terminal.person && NO_TEXT.test(text)) throw new AgentError("INVALID", "a line of the input is no UTF-8 text, so it was not sent");
		const own = ownCommand(text);
		if (own) return this.#runOwn(own);
		const slash = await runSlash(text, this.#context);
		if (slash) {
			if (slash.said !== undefined) this.#say(slash.said);
			return;
		}
		const said = text.replace(/^\/\//, "/").trimEnd();
		try {
			checkSize(said, this.#conversation.model, "It is back in the line; save long texts as a file, and name the file.");
			await this.#conversation.send(said, this.#by, queue ? { mode: "queue" } : {});
		} catch (error) {
			this.#terminal.putBack(said); // it was not taken: nothing of it is lost
			throw error;
		}
	}

	async #runOwn(own: OwnCommand): Promise<void> {
		const abort = new AbortController();
		this.#own = abort;
		this.#terminal.print(["", `! ${visible(own.command).replaceAll("\n", "\n  ")}`]);
		this.#view.own(own.command);
		try {
			const ran = await runOwn(this.#conversation.task, this.#conversation.place, own, abort.signal);
			this.#directory = ran.directory ?? this.#directory;
			const [output, told] = [ran.output, ran.told].map((text) => visible(text).trimEnd()) as [string, string];
			this.#terminal.print([...(output === "" ? [] : output.split("\n")), ...(told === "" ? [] : wrapLaidOut(told, this.#terminal.look))]);
			if (own.tell) await this.#conversation.send(tellText(own, ran), this.#by);
		} finally {
			this.#own = undefined;
			this.#view.own(undefined);
		}
	}

	/** From here on the conversation that is open now is shown; a turn that was cut short goes on. */
	#watch(): void {
		this.#watching.abort();
		this.#watching = new AbortController();
		const ended = (end: TurnEnded) => {
			this.#lastEnd = end;
		};
		watch({ runtime: this.#agent.runtime, conversation: this.#conversation, terminal: this.#terminal, view: this.#view, ended }, this.#watching.signal);
		this.#view.open(this.#conversation.log.openCalls);
		this.#conversation.resume();
	}

	#greet(): void {
		if (this.#quiet) return;
		this.#say(bannerLines(factsOf(this.#agent)).join("\n"), "dim");
		const { warning, log } = this.#conversation;
		this.#view.lines(recapLines(log.entries, this.#terminal.look));
		if (warning !== undefined) this.#say(warning, "yellow");
	}

	/** Leaving ends nothing: it says what goes on, and how to come back. */
	#goodbye(): void {
		this.close();
		if (this.#quiet) return;
		const { underWay, id, log } = this.#conversation;
		if (underWay.processes.length > 0)
			this.#terminal.print([
				`${underWay.processes.length === 1 ? "1 process goes on" : `${underWay.processes.length} processes go on`}:`,
				...underWay.processes.map((line) => `  ${visible(line)}`),
			]);
		if (log.entries.some(({ t }) => t === "user")) this.#terminal.print([`holdfast-agent --resume ${id} goes on from here.`]);
	}

	#failed(error: unknown): void {
		this.#refused = true;
		this.#say(error instanceof Error ? error.message : String(error), "red");
	}

	#say(text: string, style: Parameters<View["say"]>[1] = "plain"): void {
		this.#view.say(text, style);
	}
}
