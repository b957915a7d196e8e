/** The log of a local foreground command. It is checked after every command, so the dd that copies the output is kept in view. */
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
		if (stat?.state === "T") sendSignal(stat.pid, "SIGCONT"); // another program has stopped it, and only it can deliver the rest
		if (stat && stat.state !== "Z" && stat.state !== "X") return false;
		this.#forgetCopier();
		const { collector } = readParts(this.#dir);
		const dd =
			collector &&
			childrenOf(collector.pid)
				.flatMap(childrenOf)
				.find((pid) => readStat(pid)?.comm === "dd"); // its timer may be a child too
		if (dd !== undefined) this.#copier = new ProcFile(`/proc/${dd}/stat`);
		return this.isOver() || isDrainedHere(this.#dir);
	}

	isOver(): boolean {
		return readState(this.#dir).kind === "closed" || !fs.existsSync(this.#dir);
	}

	/** Without its copier it still works, with a dd, but for one command only. */
	serves(): boolean {
		return this.#all().every(lives);
	}

	/** A collector that has closed the log had all output: another program may have recorded the end of the command, and released the log. */
	collects(): boolean {
		return this.#all().slice(0, 1).every(lives) || readState(this.#dir).kind === "closed";
	}

	/** Parts without a record yet are about to get one: they count as alive, and are looked for again. */
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
	if (!isAlive(part)) file.close(); // checked afterwards: the file may belong to a reused pid
	return file;
}

/** Asked for every command, so it reads the /proc file that costs the kernel least. That file is all zeros for a zombie. */
const lives = (statm: ProcFile): boolean => statm.read()?.startsWith("0 ") === false;
