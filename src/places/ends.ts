/**
 * The fixed end of a task's own machine: a time limit of a queue or service that cannot be extended. Holdfast announces it once, and again shortly
 * before.
 * `places/KEY.ends` in the home records the announcements, so that other programs do not repeat them.
 */
import path from "node:path";
import { ensureDir, type Home, readIfThere, timeText, unlinkIfThere, writeWhole } from "../base/index.js";

type Root = Pick<Home, "root">;

/** How long before the end the second announcement comes. */
export const LAST_CALL_MS = 5 * 60_000;

interface End {
	readonly life: string;
	readonly at: number;
	/** What has been announced: nothing, the end, the approaching end. */
	readonly told: 0 | 1 | 2;
}

export class Ends {
	readonly #home: Root;
	readonly #known = new Map<string, End>();

	constructor(home: Root) {
		this.#home = home;
	}

	/** Records the end of a machine that was just reached. `at`: when this life ends; undefined: nothing ends it. */
	learn(key: string, life: string, at: number | undefined): void {
		if (at === undefined) {
			if (this.#known.delete(key)) unlinkIfThere(fileOf(this.#home, key));
			return;
		}
		const before = readEnd(this.#home, key);
		// The same life: its limit may have been moved by an administrator, or a clock read slightly differently.
		const moved = before === undefined || before.life !== life || Math.abs(before.at - at) > MOVED_MS;
		this.#keep(key, { life, at, told: moved ? 0 : before.told });
	}

	forget(key: string): void {
		this.#known.delete(key);
		unlinkIfThere(fileOf(this.#home, key));
	}

	/** Returns the announcements that are due, each once across all programs. */
	take(key: string, place: string, now = Date.now()): string[] {
		const end = this.#known.get(key);
		if (end === undefined || end.told === 2) return [];
		const soon = now >= end.at - LAST_CALL_MS;
		if (end.told === 1 && !soon) return [];
		const told = soon ? 2 : 1;
		const theirs = readEnd(this.#home, key); // another program may have announced it
		this.#keep(key, { ...end, told });
		if (theirs !== undefined && theirs.life === end.life && theirs.told >= told) return [];
		if (now >= end.at) return [];
		const left = timeText(Math.max(1, Math.round((end.at - now) / 1000)));
		return [`${place} ends at ${clock(end.at)}, in ${left}, whatever runs in it then${soon ? ": save what has to stay" : ""}.`];
	}

	#keep(key: string, end: End): void {
		this.#known.set(key, end);
		const text = `${end.at} ${end.told} ${end.life}`;
		const file = fileOf(this.#home, key);
		if (readIfThere(file) === text) return;
		try {
			ensureDir(path.dirname(file));
			writeWhole(file, text);
		} catch {
			// a full disk: another program may announce it again
		}
	}
}

const MOVED_MS = 60_000;

function readEnd(home: Root, key: string): End | undefined {
	const [, at, told, life] = /^(\d+) ([012]) (.*)$/s.exec(readIfThere(fileOf(home, key)) ?? "") ?? [];
	return life === undefined ? undefined : { life, at: Number(at), told: Number(told) as End["told"] };
}

/** Includes the time zone: the reader may be on another machine. */
const clock = (at: number): string => {
	const minutes = -new Date(at).getTimezoneOffset();
	const two = (number: number) => String(Math.trunc(Math.abs(number))).padStart(2, "0");
	const local = new Date(at + minutes * 60_000).toISOString().slice(0, 16).replace("T", " ");
	return `${local} (UTC${minutes === 0 ? "" : `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`})`;
};

const fileOf = (home: Root, key: string): string => path.join(home.root, "places", `${key}.ends`);
