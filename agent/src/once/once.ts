/** One message, one answer. Only the answer goes to stdout; what a person should know goes to stderr. */
import os from "node:os";
import { AgentError, anySignal, newMessageId } from "../base/index.js";
import {
	type Agent,
	type AgentSettings,
	callLine,
	checkSize,
	clip,
	EXIT,
	exitOf,
	lookOf,
	oneLine,
	openAgent,
	paint,
	renderMarkdown,
	retryText,
	visible,
} from "../chat/index.js";
import { describeToolsets } from "../tools/index.js";
import { type Conversation, isUnanswered, type TurnEnd, type TurnEvent } from "../turn/index.js";
import { linger, reporting } from "./linger.js";

export interface OnceOptions {
	readonly settings: AgentSettings;
	/** Empty: only go on with a turn that is open. */
	readonly text: string;
	readonly resume?: string | true;
	/** Each event as a line of JSON, in place of the answer. */
	readonly json: boolean;
	/** Seconds. */
	readonly linger: number;
}

type End = Extract<TurnEvent, { type: "end" }>;

const PLATFORM = "run";

/** Resolves with the exit code. */
export async function runOnce(options: OnceOptions): Promise<number> {
	const { settings, text, resume } = options;
	if (text.trim() === "" && resume === undefined) throw new AgentError("INVALID", "the message is empty, so nothing was sent; write something behind -q");
	const agent = await openAgent({
		settings,
		door: { name: "run", kind: "run", nobody: () => "this is a run without a person" },
		cwd: process.cwd(),
		...(resume === undefined ? {} : { resume }),
	});
	try {
		return await new Run(agent, options).run();
	} finally {
		await agent.close();
	}
}

class Run {
	readonly #agent: Agent;
	readonly #options: OnceOptions;
	readonly #stop = new AbortController();
	#end: End | undefined;
	/** The end of a turn before its message was heard. */
	#before: End | undefined;
	readonly #message = newMessageId();
	/** Its message is in the log: what was answered before is not the answer to it. Without one every answer counts. */
	#heard: boolean;
	/** Only the first answer counts: a later one answers the message of another program. */
	readonly #one: boolean;
	#answered = false;
	#interrupts = 0;

	constructor(agent: Agent, options: OnceOptions) {
		this.#agent = agent;
		this.#options = options;
		this.#heard = options.text.trim() === "";
		this.#one = !this.#heard && options.linger === 0;
	}

	async run(): Promise<number> {
		const { conversation, runtime } = this.#agent;
		const { text, json } = this.#options;
		checkSize(text, conversation.model, "Save it as a file and name that in the message: the agent can read it.");
		const interrupt = () => this.#interrupt();
		process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
		void this.#follow(conversation);
		try {
			this.#tellWhatIsOff(conversation);
			if (json) this.#json({ type: "session", id: conversation.id, task: conversation.task.name, model: conversation.model.name, place: conversation.place });
			conversation.resume();
			if (text.trim() !== "") await conversation.send(text, { platform: PLATFORM, person: os.userInfo().username }, { mode: "queue", id: this.#message });
			await conversation.idle();
			await shown();
			const elsewhere = text.trim() === "" || this.#end ? undefined : endIn(conversation);
			if (elsewhere) this.#show(elsewhere);
			this.#end ??= this.#before; // a turn that was open has ended so that nothing more is heard
			if (!this.#end) throw new AgentError("INVALID", `nothing is open in ${conversation.id}; write a message behind -q`);
			if (this.#options.linger > 0) {
				const time = AbortSignal.timeout(this.#options.linger * 1_000);
				await linger(runtime, conversation, anySignal([time, this.#stop.signal]));
			}
		} finally {
			process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
		}
		await shown();
		this.#tellWhatIsOpen(conversation);
		return this.#stop.signal.aborted ? EXIT.interrupted : exitOf(this.#end);
	}

	/** The first one stops the turn, the second the program. */
	#interrupt(): void {
		this.#stop.abort();
		this.#interrupts++;
		if (this.#interrupts > 1) process.exit(EXIT.interrupted);
		void this.#agent.conversation.interrupt();
	}

	async #follow(conversation: Conversation): Promise<void> {
		for await (const event of conversation.events) this.#show(event);
	}

	#show(event: TurnEvent): void {
		if (event.type === "entry" && event.entry.t === "user" && event.entry.id === this.#message) this.#heard = true;
		if (event.type === "end" && !this.#heard) this.#before = event;
		else if (event.type === "end" && !(this.#end && this.#one)) this.#end = event;
		if (this.#options.json) this.#json(event);
		else if (event.type === "call" && process.stderr.isTTY) this.#note(`▸ ${callLine(event.name, event.args)}`);
		else if (event.type === "retry" || event.type === "warning") this.#warn(event.type === "retry" ? retryText(event) : event.text);
		else if (event.type === "entry" && event.entry.t === "assistant" && event.entry.calls.length === 0) this.#answer(event.entry.text);
		else if (event.type === "end" && event.why !== "answered" && event.why !== "approval") this.#warn(event.text || event.why);
	}

	#answer(text: string): void {
		if (!this.#heard || (this.#answered && this.#one)) return;
		this.#answered = true;
		const lines = process.stdout.isTTY ? renderMarkdown(text, lookOf(process.stdout)) : [text.trimEnd()];
		process.stdout.write(`${lines.join("\n")}\n`);
	}

	/** Sets that were asked for. That nobody can be asked is what a run is. */
	#tellWhatIsOff({ toolsets }: Conversation): void {
		const off = toolsets.filter(({ name, availability }) => !availability.ok && name !== "ask");
		if (off.length > 0) this.#warn(describeToolsets(off));
	}

	#tellWhatIsOpen({ id, log, task }: Conversation): void {
		const { runtime } = this.#agent;
		const open = this.#end?.why === "approval" ? runtime.approvals.list({ task: task.name }) : [];
		for (const { id: approval, command } of open) {
			if (this.#options.json) this.#json({ type: "approval", id: approval, command });
			this.#warn(`${approval} waits for a person: ${oneLine(command, 200)}`);
		}
		if (open.length > 0) this.#warn(`answer with \`holdfast approvals answer ID once\`, then \`holdfast-agent --resume ${id} -q ""\` goes on`);
		for (const process of reporting(runtime, log.entries)) this.#warn(`${process} still runs, and will report its end to \`holdfast-agent --resume ${id}\``);
	}

	#json(value: unknown): void {
		process.stdout.write(`${this.#agent.keys.redact(JSON.stringify(value))}\n`);
	}

	#note(text: string): void {
		const look = lookOf(process.stderr);
		process.stderr.write(`${paint(look, "dim", clip(text, look.columns))}\n`);
	}

	#warn(text: string): void {
		process.stderr.write(`holdfast-agent: ${visible(text)}\n`);
	}
}

/** Another program that has this conversation may have heard the message and made the turn: how that ended is in the log. */
function endIn({ log }: Conversation): End | undefined {
	if (isUnanswered(log)) return undefined;
	const last = log.entries.findLast(({ t }) => t === "assistant" || t === "stopped");
	const { why, text } = last?.t === "stopped" ? last : { why: "answered", text: "" };
	return { type: "end", why: why as TurnEnd, text, usage: { input: 0, output: 0 } }; // that program has counted
}

/** Resolves when what has happened so far is shown. */
const shown = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
