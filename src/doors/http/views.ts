/** Processes as the API shows them: what every list has, whether it waits for input, who has the keyboard, and what it uses. */
import fs from "node:fs";
import path from "node:path";
import { runOf } from "../../audit/index.js";
import { soon } from "../../base/index.js";
import { reveal } from "../../base/secrets/index.js";
import { segmentName, segmentStarts } from "../../keeper/index.js";
import { hiddenText, isOver, keyboardOf, type Process, type Status, sizeOf, standing, type Usage, usageOf } from "../../process/index.js";
import { type Waiting, waitingFor } from "../../screen/index.js";
import { stripAnsi } from "../../tools/index.js";
import type { KeyboardState, ProcessDetail, ProcessItem, Resources } from "./schemas.js";

const LINE = 200; // characters
const TAIL_BYTES = 4_096;
const FRESH_MS = 2_000; // how long an answer about waiting is taken for true while nothing is printed
const KEPT = 2_000;

interface Known {
	waiting?: { readonly found: Waiting; readonly end: number; readonly at: number };
	used?: { readonly usage: Usage; readonly at: number };
}

export class Views {
	readonly #known = new Map<string, Known>();

	async item(process: Process): Promise<ProcessItem> {
		const status = process.status();
		const { spec } = process;
		const { first, end } = process.log.bounds();
		const waiting = await this.#waiting(process, status, end);
		return {
			...standing(process, status),
			kind: spec.kind ?? (spec.within ? "command" : "process"),
			...(waiting.waiting ? { status: "awaiting_input", waiting_for: waiting.waiting_for, waiting_evidence: waiting.waiting_evidence } : {}),
			last_line: lastLine(process, end, !isOver(status)),
			first_offset: first,
			total_bytes: end,
			last_output_at: lastOutput(process),
			parent: spec.parent ?? null,
			call: runOf(process.dir) ?? null,
			keyboard: keyboardView(process),
			resources: await this.#resources(process, status),
		};
	}

	async detail(process: Process, owner: boolean): Promise<ProcessDetail> {
		const { spec } = process;
		const size = sizeOf(process);
		return {
			...(await this.item(process)),
			full_command: owner ? process.command() : process.secrets.redact(process.command()),
			...(spec.argv ? { argv: [...spec.argv] } : {}),
			...(spec.shell ? { shell: spec.shell } : {}),
			stdin: spec.stdin,
			cols: size?.cols ?? null,
			rows: size?.rows ?? null,
			log: spec.log,
			kill_method: spec.kill,
			dir: owner ? process.dir : null,
		};
	}

	/** Returns what it waits for; unknown if its machine does not answer in time. */
	waiting(process: Process): Promise<Waiting> {
		return this.#waiting(process, process.status(), process.log.bounds().end);
	}

	async #waiting(process: Process, status: Status, end: number): Promise<Waiting> {
		if (status.status !== "running" || !process.spec.terminal || process.unreachable !== undefined) return { waiting: false };
		const known = this.#of(process.id);
		const { waiting } = known;
		const now = performance.now();
		if (waiting && waiting.end === end && now - waiting.at < FRESH_MS) return waiting.found;
		const found = await soon(waitingFor(process, { reuse: true }), { waiting: false as const }); // or it has just ended
		known.waiting = { found, end, at: now };
		return found;
	}

	async #resources(process: Process, status: Status): Promise<Resources> {
		if (status.status !== "running" || process.unreachable !== undefined) return null;
		const usage = await soon(usageOf(process.kernel, process.dir, process.spec), undefined);
		if (!usage) return null;
		const known = this.#of(process.id);
		const at = performance.now();
		const { used } = known;
		const fresh = used !== undefined && at - used.at < 500; // too short a time to divide by
		const seconds = used ? (at - used.at) / 1000 : 0;
		const cpu = used && !fresh ? (Math.max(0, usage.cpuSeconds - used.usage.cpuSeconds) / seconds) * 100 : null;
		if (!fresh) known.used = { usage, at };
		return { cpu_percent: cpu === null ? null : Math.round(cpu * 10) / 10, memory_bytes: usage.memoryBytes, processes: usage.processes };
	}

	#of(id: string): Known {
		const known = this.#known.get(id) ?? {};
		this.#known.delete(id);
		this.#known.set(id, known); // the newest last
		for (const old of this.#known.keys()) {
			if (this.#known.size <= KEPT) break;
			this.#known.delete(old);
		}
		return known;
	}
}

export function keyboardView(process: Process): KeyboardState {
	const holder = keyboardOf(process);
	return holder ? { who: holder.who, since: new Date(holder.since).toISOString(), byte_offset: holder.offset } : null;
}

/** The size that its terminal has now. */
function lastLine(process: Process, end: number, live: boolean): string {
	const slice = process.read(Math.max(0, end - TAIL_BYTES), TAIL_BYTES);
	const text = reveal(hiddenText(process, slice, { end, live, context: TAIL_BYTES }).text);
	const lines = stripAnsi(text).split(/[\r\n]+/);
	const line = lines.findLast((text) => text.trim() !== "") ?? "";
	return line
		.replaceAll(/\p{Cc}/gu, "")
		.trim()
		.slice(0, LINE);
}

function lastOutput(process: Process): string | null {
	const last = segmentStarts(process.dir).at(-1);
	const stat = last === undefined ? undefined : fs.statSync(path.join(process.dir, segmentName(last)), { throwIfNoEntry: false });
	return stat && stat.size > 0 ? stat.mtime.toISOString() : null;
}
