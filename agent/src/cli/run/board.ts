/**
 * A run while it runs. On a terminal: a table of the episodes under way and the totals, which is drawn again in place, with what has happened above it. In a
 * pipe: a line for each result, and the totals now and then.
 */
import type { Process, Runtime } from "holdfast";
import type { RunEvent } from "../../run/index.js";
import type { Output } from "../output.js";
import { ageText, eventLine } from "./run-words.js";

const DRAW_MS = 500;
const TOTALS_MS = 10_000;
const MOST_ROWS = 12;

interface Shown {
	readonly index: number;
	readonly key: string;
	readonly attempt: number;
	readonly task: string;
	readonly place: string;
	readonly since: number;
}

export interface BoardOptions {
	readonly out: Output;
	readonly episodes: number;
	/** With a result before this program began. */
	readonly done: number;
	/** Tokens and money that were spent before. */
	readonly spent: { readonly tokens: number; readonly cost: number | null };
}

export class Board {
	readonly #options: BoardOptions;
	readonly #running = new Map<number, Shown>();
	/** The end of what the newest command of a task has printed, and where it was read to. */
	readonly #outputs = new Map<string, { readonly id: string; readonly at: number; readonly text: string }>();
	readonly #began = Date.now();
	readonly #live: boolean;
	readonly #timer: NodeJS.Timeout | undefined;
	#runtime: Runtime | undefined;
	#finished = 0;
	#taken = 0;
	#tokens: number;
	#cost: number | null;
	#state = "";
	#drawn = 0;
	#totalsAt = Date.now();

	constructor(options: BoardOptions) {
		this.#options = options;
		this.#tokens = options.spent.tokens;
		this.#cost = options.spent.cost;
		this.#live = process.stdout.isTTY === true && process.stderr.isTTY === true && !options.out.json;
		this.#timer = this.#live ? setInterval(() => this.#draw(), DRAW_MS).unref() : undefined;
	}

	/** Sets the runtime whose processes the table shows. */
	watch(runtime: Runtime): void {
		this.#runtime = runtime;
	}

	get running(): readonly Shown[] {
		return [...this.#running.values()];
	}

	tell(event: RunEvent): void {
		this.#take(event);
		const text = eventLine(this.#options.out, event, this.#options.episodes);
		this.#erase();
		if (text !== undefined) this.#options.out.line(text);
		if (this.#live) this.#draw();
		else if (event.type === "result" && Date.now() - this.#totalsAt >= TOTALS_MS) this.#options.out.line(this.#totals());
		if (event.type === "result" && Date.now() - this.#totalsAt >= TOTALS_MS) this.#totalsAt = Date.now();
	}

	/** Takes the table away. Idempotent. */
	close(): void {
		clearInterval(this.#timer);
		this.#erase();
		this.#runtime = undefined;
	}

	#take(event: RunEvent): void {
		if (event.type === "start") this.#running.set(event.index, { ...event, since: Date.now() });
		else if (event.type === "stopped") this.#running.delete(event.index);
		else if (event.type === "paused") this.#state = "paused: `holdfast-agent resume` goes on";
		else if (event.type === "held") this.#state = event.why;
		else if (event.type === "continued" || event.type === "room") this.#state = "";
		else if (event.type === "requeued") this.#taken++;
		else if (event.type === "result") {
			this.#outputs.delete(this.#running.get(event.index)?.task ?? "");
			this.#running.delete(event.index);
			if (!event.again) this.#finished++;
			this.#tokens += event.usage.input + event.usage.output;
			if (event.usage.cost !== undefined) this.#cost = (this.#cost ?? 0) + event.usage.cost;
		}
	}

	#totals(): string {
		const { episodes, done } = this.#options;
		const all = done + this.#finished - this.#taken;
		const perSecond = this.#finished / Math.max(1, (Date.now() - this.#began) / 1_000);
		const rest = episodes - all;
		const parts = [
			`${all} of ${episodes} done`,
			`${this.#running.size} under way`,
			...(perSecond > 0
				? [`${(perSecond * 60).toFixed(perSecond < 1 / 6 ? 1 : 0)} a minute`, ...(rest > 0 ? [`about ${ageText(rest / perSecond)} to go`] : [])]
				: []),
			this.#cost === null ? `${this.#tokens.toLocaleString("en-US")} tokens` : `${this.#cost.toFixed(4)} USD`,
			...(this.#state === "" ? [] : [this.#state]),
		];
		return parts.join(" · ");
	}

	#draw(): void {
		this.#erase();
		const { out } = this.#options;
		const all = this.running;
		const rows = all.slice(0, MOST_ROWS).map((one) => {
			const words = `${String(one.index).padStart(6)}  ${one.key.slice(0, 24).padEnd(24)}  ${ageText((Date.now() - one.since) / 1_000).padStart(9)}  ${this.#now(one.task)}`;
			return words.slice(0, out.columns - 1);
		});
		if (all.length > MOST_ROWS) rows.push(`        … and ${all.length - MOST_ROWS} more`);
		const lines = [...rows.map((row) => out.style("dim", row)), out.style("bold", this.#totals().slice(0, out.columns - 1))];
		process.stdout.write(`${lines.join("\n")}\n`);
		this.#drawn = lines.length;
	}

	#erase(): void {
		if (this.#drawn === 0) return;
		process.stdout.write(`\u001b[${this.#drawn}A\u001b[J`);
		this.#drawn = 0;
	}

	/** Returns the command that the task runs, and its last line of output. */
	#now(task: string): string {
		const [newest] = this.#runtime?.list({ task, ended: false, shells: false }) ?? [];
		if (!newest) return "waits for the model, or is being prepared";
		const known = this.#outputs.get(task);
		const { at, text } = known?.id === newest.id ? known : { at: 0, text: "" };
		const { bytes, next } = newest.read(at, PIECE);
		const output = { id: newest.id, at: next, text: (text + bytes.toString("utf8")).slice(-TAIL) };
		this.#outputs.set(task, output);
		return nowOf(newest, output.text);
	}
}

const TAIL = 512;
const PIECE = 256 * 1024; // of a flood the line that is shown is an older one
const COMMAND_CHARS = 40; // of a line that has to show what was printed, too

function nowOf(process: Process, text: string): string {
	const last = plain(text)
		.split("\n")
		.findLast((line) => line.trim() !== "");
	const command = plain(process.spec.command).replaceAll("\n", "; ");
	return `$ ${command.length > COMMAND_CHARS ? `${command.slice(0, COMMAND_CHARS - 1)}…` : command}${last === undefined ? "" : `  → ${last.trim()}`}`;
}

/** Without what would move the cursor of the person who looks. */
const plain = (text: string): string =>
	text.replace(/\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, "").replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, " ");
