/** The life of one slot (slot-state.ts), with what has to be looked at and written down for it in its directory. */
import fs from "node:fs";
import path from "node:path";
import { commandId, readIfThere } from "../base/index.js";
import { appendRange, type Drained, openRanges, parseDrained, type Range, RECORD_BYTES } from "../keeper/index.js";
import { FRESH, type SlotState, step } from "./slot-state.js";

const RANGES_BYTES = 256 * 1024; // more of commands' texts than this are not in one file
const scratch = Buffer.allocUnsafeSlow(RECORD_BYTES);

export class SlotLife {
	readonly #id: string;
	readonly #dir: string;
	/** The slot's copier counts, so that the slot can serve more than one command that leaves a trace. Undefined where the copier is a dd. */
	readonly counts: boolean;
	#drained: number | undefined;
	#state: SlotState = FRESH;
	#ranges: number | undefined;
	#rangeBytes = 0;
	#closed = false;
	/** Names in the directory from before its first command: they belong to no single command. */
	readonly #names: ReadonlySet<string>;
	#namesAt = 0;

	constructor(id: string, dir: string) {
		this.#id = id;
		this.#dir = dir;
		this.#drained = openIfSaid(path.join(dir, "drained"));
		this.counts = this.#drained !== undefined;
		this.#names = new Set([...fs.readdirSync(dir), "ranges"]);
	}

	/** The id of the command that is here; while there is none, of the next one. */
	get commandId(): string {
		if (!this.counts || this.#state.kind === "kept" || this.#state.kind === "full") return this.#id;
		return commandId(this.#id, this.#state.kind === "free" ? this.#state.served : this.#state.served - 1);
	}

	/** Returns where in the log the command's output begins, for its spec. Returns nothing where the slot serves one command alone. */
	get place(): { slot?: string; from?: number } {
		return !this.counts || !("mark" in this.#state) ? {} : { slot: this.#id, from: this.#state.mark.bytes };
	}

	/** The slot has served a command that is in the transcript. */
	get served(): boolean {
		return this.#rangeBytes > 0;
	}

	/** The end of the command that is here, as its shell has recorded it. */
	get end(): { readonly code: number; readonly cwd: string } | undefined {
		return this.#state.kind === "ended" || this.#state.kind === "drained" ? this.#state : undefined;
	}

	/** How many bytes the command printed, if it has ended and no process had the pipe open after that. */
	get printedAlone(): number | undefined {
		return this.#state.kind === "drained" && this.#state.alone ? this.#state.now.bytes - this.#state.mark.bytes : undefined;
	}

	/** Before a command is put here: what was printed and counted until now is not its own. */
	prepare(): void {
		this.#state = step(this.#state, { kind: "idle", drained: this.drained() });
	}

	begin(): void {
		this.#state = step(this.#state, { kind: "begun" });
	}

	/** The shell never took the command. */
	unsent(): void {
		this.#state = step(this.#state, { kind: "unsent" });
	}

	/** No caller waits for the command any longer. */
	leave(): void {
		this.#state = step(this.#state, { kind: "left" });
	}

	ended(end: { readonly code: number; readonly cwd: string }): void {
		this.#state = step(this.#state, { kind: "end", ...end });
	}

	/**
	 * Whether all that was printed before the end is in the log. The copier says so in its record, unless another process has the pipe open. `sleeps` finds that
	 * out by a look at the copier itself, which costs more: undefined while the record alone will do.
	 */
	isDrained(sleeps?: () => boolean): boolean {
		this.#look(false);
		if (this.#state.kind === "ended" && sleeps) this.#look(sleeps());
		return this.#state.kind === "drained";
	}

	#look(asleep: boolean): void {
		this.#state = step(this.#state, { kind: "pipe", asleep, drained: this.drained() });
	}

	drained(): Drained | undefined {
		if (this.#drained === undefined) return undefined;
		return parseDrained(scratch.toString("latin1", 0, fs.readSync(this.#drained, scratch, 0, RECORD_BYTES, 0)));
	}

	/** The caller has read the output: the slot is `free` for another command, `full` of those that it has served, or `kept` by this one. */
	release(how: { readonly keep: boolean; readonly traceless: boolean }): "free" | "full" | "kept" {
		this.#state = step(this.#state, { kind: "released", ...how, clean: this.#isClean() });
		if (this.#rangeBytes > RANGES_BYTES && this.#state.kind === "free") return "full";
		return this.#state.kind === "free" || this.#state.kind === "full" ? this.#state.kind : "kept";
	}

	/** Puts a command into the transcript. If the disk is full it is not there. */
	note(range: Range): void {
		try {
			this.#ranges ??= openRanges(this.#dir);
			this.#rangeBytes += appendRange(this.#ranges, range);
			if (this.#closed) this.close();
		} catch {
			// nothing else depends on it
		}
	}

	/** Nothing is in the directory that is of one command alone: a cursor, a mark of a kill, a gap in its output. */
	#isClean(): boolean {
		if (!this.counts) return true;
		try {
			const { mtimeMs } = fs.statSync(this.#dir);
			if (mtimeMs === this.#namesAt) return true;
			if (fs.readdirSync(this.#dir).some((name) => !this.#names.has(name) && !name.startsWith("out."))) return false;
			this.#namesAt = mtimeMs;
			return true;
		} catch {
			return false; // the home was removed
		}
	}

	/** Gives back its descriptors; looks at nothing from then on. */
	close(): void {
		this.#closed = true;
		for (const fd of [this.#drained, this.#ranges]) if (fd !== undefined) fs.closeSync(fd);
		this.#drained = undefined;
		this.#ranges = undefined;
	}
}

/** Before there is a copier the record is blank. */
function openIfSaid(file: string): number | undefined {
	if (parseDrained(readIfThere(file) ?? "") === undefined) return undefined;
	return fs.openSync(file, "r");
}
