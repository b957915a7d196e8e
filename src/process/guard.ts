/**
 * The end of a process is an event, because its keeper writes it. Only if the keeper itself was killed nobody tells. So
 * whoever waits is poked when the keeper of his process is gone, and then until somebody has noticed the end. One look
 * at the names in /proc serves all who wait.
 */
import fs from "node:fs";
import { type Identity, isAlive } from "../base/proc.js";
import { readParts } from "../keeper/layout.js";
import type { Spec } from "./spec.js";
import { witnessOf } from "./status.js";

const LOOK_MS = 15_000;
const LOOK_LOST_MS = 100;

interface Guarded {
	readonly dir: string;
	readonly spec: Spec;
	readonly poke: () => void;
	witness: Identity | undefined;
	lost: boolean;
}

const guarded = new Set<Guarded>();
let timer: NodeJS.Timeout | undefined;

/** Poke when the witness of a process has gone. Returns what ends that. */
export function guard(dir: string, spec: Spec, poke: () => void): () => void {
	const entry: Guarded = { dir, spec, poke, witness: undefined, lost: false };
	entry.lost = witnessIsGone(entry);
	guarded.add(entry);
	if (entry.lost || !timer) arm();
	return () => {
		guarded.delete(entry);
		if (guarded.size > 0) return;
		clearTimeout(timer);
		timer = undefined;
	};
}

function arm(): void {
	clearTimeout(timer);
	timer = setTimeout(look, [...guarded].some((entry) => entry.lost) ? LOOK_LOST_MS : LOOK_MS);
}

function look(): void {
	const there = new Set(fs.readdirSync("/proc"));
	for (const entry of guarded) {
		// A pid that was used again passes here; the start time is looked at when the name is gone or nobody is known yet.
		if (!entry.witness || !there.has(String(entry.witness.pid))) entry.lost = witnessIsGone(entry);
		if (entry.lost) entry.poke();
	}
	arm();
}

function witnessIsGone(entry: Guarded): boolean {
	entry.witness ??= witnessOf(readParts(entry.dir), entry.spec);
	return entry.witness !== undefined && !isAlive(entry.witness);
}
