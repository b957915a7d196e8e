/** The log of a foreground command of this machine. It is asked after every command, so the dd that copies the output is kept in view. */
import fs from "node:fs";
import { childrenOf, type Identity, isAlive, ProcFile, parseStat, readStat, sendSignal } from "../../base/index.js";
import { readDrained, readParts, readState } from "../../keeper/index.js";
import type { Collector } from "../machine.js";
import { isDrainedHere } from "./sight.js";

export class LocalCollector implements Collector {
	readonly #dir: string;
	#copier: ProcFile | undefined;
	/** The collector and the copier. */
	#parts: readonly ProcFile[] | undefined;

	constructor(dir: string) {
		this.#dir = dir;
	}

	drained(): boolean {
		const said = readDrained(this.#dir);
		if (said && said.kind !== "dd") return this.isOver() || isDrainedHere(this.#dir);
		const stat = parseStat(this.#copier?.read() ?? "");
		if (stat?.comm === "dd" && stat.state === "S") return true;
		if (stat?.state === "T") sendSignal(stat.pid, "SIGCONT"); // something else has stopped it, and only it can bring the rest
		if (stat && stat.state !== "Z" && stat.state !== "X") return false;
		this.#forgetCopier();
		const { collector } = readParts(this.#dir);
		const dd =
			collector &&
			childrenOf(collector.pid)
				.flatMap(childrenOf)
				.find((pid) => readStat(pid)?.comm === "dd"); // its timer may be there too
		if (dd !== undefined) this.#copier = new ProcFile(`/proc/${dd}/stat`);
		return this.isOver() || isDrainedHere(this.#dir);
	}

	isOver(): boolean {
		return readState(this.#dir).kind === "closed" || !fs.existsSync(this.#dir);
	}

	/** Without its copier it still does, with a dd, but for one command alone. */
	serves(): boolean {
		return this.#all().every(lives);
	}

	/** A collector that has closed the log had all of it: another program may have noted the end of the command, and let the log go. */
	collects(): boolean {
		return this.#all().slice(0, 1).every(lives) || readState(this.#dir).kind === "closed";
	}

	/** Parts that are not on record yet are about to be: nothing is known against them, and they are looked for again. */
	#all(): readonly ProcFile[] {
		if (!this.#parts) {
			const { collector, child } = readParts(this.#dir);
			if (!collector || !child) return [];
			this.#parts = [collector, child].map(watched);
		}
		return this.#parts;
	}

	#forgetCopier(): void {
		this.#copier?.close();
		this.#copier = undefined;
	}

	close(): void {
		this.#forgetCopier();
		for (const file of this.#parts ?? []) file.close();
		this.#parts = [];
	}
}

function watched(part: Identity): ProcFile {
	const file = new ProcFile(`/proc/${part.pid}/statm`);
	if (!isAlive(part)) file.close(); // looked at afterwards: the file may be of another with its number
	return file;
}

/** Asked for every command, and so of the file of /proc that costs the kernel least. It is all zeros of a process that nobody has waited for. */
const lives = (statm: ProcFile): boolean => statm.read()?.startsWith("0 ") === false;
