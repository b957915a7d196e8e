/** Shows a conversation's events as lines of the terminal and as its status. Nothing that was printed is drawn again. */
import type { ModelCall } from "../../model/index.js";
import type { EntryBody } from "../../talk/index.js";
import type { TurnEvent } from "../../turn/index.js";
import type { ChatTerminal } from "../line/terminal.js";
import { paint, type Style } from "../render/look.js";
import { MarkdownStream } from "../render/stream.js";
import { oneLine, visible } from "../render/visible.js";
import { clip } from "../render/width.js";
import { wrapLaidOut, wrapText } from "../render/wrap.js";
import { retryText } from "./retry.js";
import { callLine, resultLines } from "./tool-lines.js";
import { usageText } from "./usage.js";

const SECOND_MS = 1_000;
const SAID_LINES = 6;
const SAID_CHARS = 2_000;
const FAILED_LINES = 3;
const SHORTEST = 10; // what goes on, in the status
/** Progress that tells only how long it has been: the status does so too. */
const TELLS_TIME = / for \d+ s$/;
/** Lines of the log after which no more of an answer comes. */
const ENDS_TEXT = new Set<EntryBody["t"]>(["assistant", "partial", "user", "notice", "stopped"]);

export interface ViewOptions {
	/** Only answers; what went wrong goes to `warn`. */
	readonly quiet: boolean;
	readonly warn: (text: string) => void;
	/** Messages of other doors are shown with their names. */
	readonly platform: string;
	/** Answers as the model wrote them: for a pipe. */
	readonly raw: boolean;
}

export class View {
	readonly #terminal: ChatTerminal;
	readonly #options: ViewOptions;
	readonly #markdown: MarkdownStream;
	readonly #timer: NodeJS.Timeout;
	/** The current activity, and since when. */
	#doing: { readonly what: string; readonly since: number } | undefined;
	/** The same before the conversation began to be made shorter. */
	#around: { readonly what: string; readonly since: number } | undefined;
	/** The person's own command. */
	#own: { readonly what: string; readonly since: number } | undefined;
	/** Something was printed that the next block must be kept apart from. */
	#apart = false;
	#streaming = false;
	/** Pieces of the answer that is next in the log were shown. */
	#arrived = false;
	/** Calls of the log that did not begin in this program, or not yet. */
	readonly #calls = new Map<string, ModelCall>();
	/** Results that were shown when they came into the log. */
	readonly #shown = new Set<string>();
	#raw = "";

	constructor(terminal: ChatTerminal, options: ViewOptions) {
		this.#terminal = terminal;
		this.#options = options;
		this.#markdown = new MarkdownStream(() => terminal.look);
		this.#timer = setInterval(() => this.#status(), SECOND_MS).unref();
	}

	close(): void {
		clearInterval(this.#timer);
	}

	show(event: TurnEvent): void {
		switch (event.type) {
			case "entry":
				this.#entry(event.entry);
				break;
			case "asking":
				this.#now(event.step > 1 ? `thinking (step ${event.step})` : "thinking");
				break;
			case "text":
				this.#arrived = true;
				this.#text(event.text);
				break;
			case "reasoning":
				this.#now("thinking", { keep: true });
				break;
			case "retry":
				this.#endText();
				this.#say("yellow", retryText(event));
				this.#now("waiting to try again");
				break;
			case "call":
				this.#calls.delete(event.id);
				this.#call(event);
				break;
			case "progress":
				if (!TELLS_TIME.test(event.text)) this.#now(event.text, { keep: true });
				break;
			case "result":
				if (!this.#shown.delete(event.id)) this.#result(event);
				break;
			case "waiting":
				this.waiting(event.texts);
				break;
			case "compacting":
				this.#compacting(event.done);
				break;
			case "compacted":
				this.#say("dim", `The conversation was made shorter: about ${event.before} tokens are ${event.after} now.`);
				break;
			case "resumed":
				this.#say("dim", resumedText(event.calls));
				for (const { name, args } of [...this.#calls.values()].slice(0, 1)) this.#now(callLine(name, args));
				break;
			case "warning":
				this.#say("yellow", event.text);
				break;
			case "end":
				this.#end(event);
		}
	}

	/** Calls that had no result when the conversation was opened: what becomes of them is shown with them. */
	open(calls: readonly ModelCall[]): void {
		for (const call of calls) this.#calls.set(call.id, call);
	}

	/** A remark of the program. */
	say(text: string, style: Style | "plain" = "plain"): void {
		this.#endText();
		this.#say(style, text);
	}

	/** The person's own command is under way; undefined: it is over. */
	own(command: string | undefined): void {
		this.#own = command === undefined ? undefined : { what: command, since: Date.now() };
		this.#status();
	}

	/** Messages that wait. */
	waiting(texts: readonly string[]): void {
		this.#terminal.status(this.#statusText(), texts);
	}

	/** Lines that are ready. */
	lines(lines: readonly string[]): void {
		this.#endText();
		this.#block(lines);
	}

	#entry(entry: EntryBody): void {
		this.#elsewhere(entry);
		if (ENDS_TEXT.has(entry.t)) this.#endText();
		if (entry.t === "user") {
			if (!this.#doing) this.#now("thinking"); // its turn begins
			const who = entry.by.platform === this.#options.platform ? "›" : `› ${oneLine(`${entry.by.name ?? entry.by.person} (${entry.by.platform})`, 60)}:`;
			if (!this.#options.quiet) this.#said(`${who} ${visible(entry.text.slice(0, SAID_CHARS))}${entry.text.length > SAID_CHARS ? "…" : ""}`);
		} else if (entry.t === "notice") this.#say("dim", `news: ${oneLine(entry.text, 300)}`);
		else if (entry.t === "set" && entry.model !== undefined) this.#say("dim", `The model is ${entry.model} from here on.`);
	}

	/** Shows a turn that another program makes: only its lines in the log are seen, and are shown as if it had happened here. */
	#elsewhere(entry: EntryBody): void {
		if (entry.t === "assistant" || entry.t === "partial") {
			if (!this.#arrived && entry.text !== "") this.#text(entry.text);
			this.#arrived = false;
			if (entry.t === "assistant") for (const call of entry.calls) this.#calls.set(call.id, call);
			if (entry.t === "assistant" && entry.calls.length === 0) this.#doing = undefined;
		} else if (entry.t === "result") {
			const call = this.#calls.get(entry.call);
			this.#calls.delete(entry.call);
			if (!call) return;
			this.#call({ type: "call", ...call });
			this.#result({ type: "result", id: call.id, name: call.name, text: entry.text, failed: entry.failed, how: entry.how });
			this.#shown.add(call.id);
		} else if (entry.t === "stopped") this.#doing = undefined;
	}

	#said(text: string): void {
		const { look } = this.#terminal;
		const lines = wrapText(text, look, { first: "", rest: "  " });
		const shown = lines.length > SAID_LINES ? [...lines.slice(0, SAID_LINES - 1), `  … ${lines.length - SAID_LINES + 1} more lines`] : lines;
		this.#block(shown.map((line) => paint(look, "bold", line)));
	}

	#text(text: string): void {
		this.#now("writing", { keep: true });
		if (this.#options.raw) this.#raw += text;
		const lines = this.#options.raw ? this.#rawLines() : this.#markdown.push(text);
		this.#stream(lines);
	}

	#rawLines(): string[] {
		const lines = this.#raw.split("\n");
		this.#raw = lines.pop() ?? "";
		return lines.map(visible);
	}

	#stream(lines: readonly string[]): void {
		if (lines.length === 0) return;
		if (this.#streaming) this.#terminal.print(lines);
		else this.#block(lines);
		this.#streaming = true;
	}

	/** Shows the rest of the text that was arriving. */
	#endText(): void {
		const rest = this.#raw;
		this.#raw = "";
		this.#stream(this.#options.raw ? (rest === "" ? [] : [visible(rest)]) : this.#markdown.end());
		this.#streaming = false;
	}

	#call({ name, args }: Extract<TurnEvent, { type: "call" }>): void {
		this.#endText();
		const { look } = this.#terminal;
		if (name !== "ask_user" && !this.#options.quiet) this.#block([paint(look, "dim", clip(`▸ ${callLine(name, args)}`, look.columns))]);
		this.#now(callLine(name, args));
	}

	#result({ name, text, failed, how }: Extract<TurnEvent, { type: "result" }>): void {
		if (this.#options.quiet) return;
		const { look } = this.#terminal;
		const style: Style = failed ? "red" : "dim";
		const lines = how === "skipped" ? ["not run"] : resultLines(name, text);
		const shown = failed
			? lines.flatMap((line) => wrapText(line, look, { first: "  ", rest: "  " }).slice(0, FAILED_LINES))
			: lines.map((line) => clip(`  ${line}`, look.columns));
		this.#terminal.print(shown.map((line) => paint(look, style, line)));
		this.#now("thinking");
	}

	#end({ why, text, usage }: Extract<TurnEvent, { type: "end" }>): void {
		this.#endText();
		this.#doing = undefined;
		if (why !== "answered" && why !== "left") this.#say(why === "interrupted" ? "dim" : "yellow", text === "" ? why : text);
		if (usage.input + usage.output > 0) this.#say("dim", usageText(usage), { block: false });
		this.#apart = true;
		this.#status();
	}

	/** With an empty line before it, unless it is the first thing. */
	#block(lines: readonly string[]): void {
		if (lines.length === 0) return;
		this.#terminal.print(this.#apart && !this.#options.quiet ? ["", ...lines] : lines);
		this.#apart = true;
	}

	#say(style: Style | "plain", text: string, { block = true } = {}): void {
		if (this.#options.quiet) {
			if (style === "red" || style === "yellow") this.#options.warn(visible(text));
			return;
		}
		const { look } = this.#terminal;
		const lines = wrapLaidOut(visible(text), look).map((line) => (style === "plain" ? line : paint(look, style, line)));
		if (block) this.#block(lines);
		else this.#terminal.print(lines);
	}

	/** Afterwards what was under way before is; between turns nothing. */
	#compacting(done: boolean): void {
		if (done) this.#doing = this.#around;
		else this.#around = this.#doing;
		if (done) this.#status();
		else this.#now("making the conversation shorter");
	}

	#now(what: string, { keep = false } = {}): void {
		this.#doing = { what, since: keep ? (this.#doing?.since ?? Date.now()) : Date.now() };
		this.#status();
	}

	#statusText(): string | undefined {
		const doing = this.#own ?? this.#doing;
		if (!doing || this.#options.quiet) return doing ? "" : undefined;
		const seconds = Math.floor((Date.now() - doing.since) / SECOND_MS);
		const rest = `${seconds > 0 ? ` · ${seconds} s` : ""} · Esc interrupts`;
		return clip(doing.what, Math.max(SHORTEST, this.#terminal.look.columns - 1 - rest.length)) + rest;
	}

	#status(): void {
		this.#terminal.status(this.#statusText());
	}
}

function resumedText(calls: number): string {
	if (calls === 0) return "The turn that was cut short goes on.";
	return `The turn that was cut short goes on; ${calls === 1 ? "one call had" : `${calls} calls had`} no result.`;
}
