/**
 * The undelivered notices of one task: files `notice.ID` in its directory. To hand one out is to rename it to
 * `taken.WHO.ID`, so one reader gets it; it is removed once it is delivered. A notice whose reader died goes to the next reader.
 */
import fs from "node:fs";
import path from "node:path";
import { Audit } from "../audit/index.js";
import { errno, type Home, isGone, me, namesIn, readIfThere, taskKey, unlinkIfThere, writeWhole } from "../base/index.js";
import { procDir } from "../keeper/index.js";
import { parseOrPutAside, stir } from "./armed.js";
import { type News, type Notice, noticeSchema } from "./notice.js";
import { isHeld, isTold } from "./told.js";

export const QUEUED_AT_MOST = 100;
const RECORDED = 1_000; // characters of a notice in the audit
const QUEUED = /^notice\.([\w-]+)$/;
const TAKEN = /^taken\.(\w+\.\d+\.\d+)\.([\w-]+)$/;
/** The kinds of notices in the order in which a full queue drops them. */
const LEAST_FIRST: readonly Notice["kind"][] = ["progress", "match", "flood", "flood_over", "watch_disabled", "keyboard", "completed"];

/** A notice that a caller has taken. Of the two ways to end that, the first counts. */
export interface TakenNotice {
	readonly notice: Notice;
	/** The notice has arrived. */
	acknowledge(): void;
	/** The notice has not arrived: the next caller gets it. */
	putBack(): void;
}

interface Waiting {
	readonly notice: Notice;
	readonly file: string;
}

export const noticesDir = (home: Home, task: string): string => path.join(home.notices, taskKey(task));

export class Queue {
	readonly dir: string;
	readonly #home: Home;
	readonly #task: string;
	#last = 0;
	/** At the last look there were ends that a call may tell itself. If its program is killed, no event says so: look again. */
	heldBack = false;

	constructor(home: Home, task: string) {
		this.dir = noticesDir(home, task);
		this.#home = home;
		this.#task = task;
	}

	/** Cheap: false means that there is nothing, and nothing to come. */
	mayHaveSome(): boolean {
		if (!fs.existsSync(this.dir)) return false; // most tasks never want any: no directory, and no exception for it
		return namesIn(this.dir).some((name) => /^(armed|notice|taken)\./.test(name));
	}

	/** Found again after a crash, the same news has the same id, and takes the place of what is still there of it. */
	put(news: News, now: number): Notice {
		this.#last = Math.max(now, this.#last + 1); // no two at the same time: what came first goes out first
		const dropped = fs.existsSync(this.#file(news.id)) ? 0 : this.#makeRoom();
		const text = dropped > 0 ? `${news.text}\n${droppedText(dropped)}` : news.text;
		const notice: Notice = { ...news, text, task: this.#task, at: new Date(this.#last).toISOString(), ...(dropped > 0 ? { dropped } : {}) };
		writeWhole(this.#file(news.id), JSON.stringify(notice));
		stir(this.dir);
		if (notice.kind !== "keyboard") this.#onRecord(notice); // which is on record as what it tells of
		return notice;
	}

	#onRecord({ id, kind, session_id, text }: Notice): void {
		const message = text.length > RECORDED ? `${text.slice(0, RECORDED)}…` : text;
		Audit.note(this.#home, this.#task, { event: "notice", notice: kind, notice_id: id, ...(session_id === null ? {} : { session_id }), message });
	}

	/** Returns the notices that can be handed out now, oldest first. */
	waiting(): Notice[] {
		return this.#waiting().map(({ notice }) => notice);
	}

	/** The same, with those that are in hand just now. */
	shown(): Notice[] {
		return this.#waiting({ taken: true }).map(({ notice }) => notice);
	}

	/** Take the oldest; undefined when there is none. */
	claim(): TakenNotice | undefined {
		for (const { notice, file } of this.#waiting()) {
			const mine = path.join(this.dir, `taken.${me()}.${notice.id}`);
			try {
				fs.renameSync(file, mine);
			} catch (error) {
				if (errno(error) === "ENOENT") continue; // another was faster
				throw error;
			}
			let open = true;
			const end = (how: () => void) => () => {
				if (open) how();
				open = false;
			};
			return { notice, acknowledge: end(() => unlinkIfThere(mine)), putBack: end(() => fs.renameSync(mine, this.#file(notice.id))) };
		}
		return undefined;
	}

	/** Hand one out again that was acknowledged too early. */
	restore(notice: Notice): void {
		writeWhole(this.#file(notice.id), JSON.stringify(notice));
		stir(this.dir);
	}

	has(id: string): boolean {
		return fs.existsSync(this.#file(id));
	}

	remove(id: string): void {
		unlinkIfThere(this.#file(id));
	}

	#file(id: string): string {
		return path.join(this.dir, `notice.${id}`);
	}

	#waiting({ taken: inHand = false } = {}): Waiting[] {
		const names = namesIn(this.dir);
		const found: Waiting[] = [];
		this.heldBack = false;
		for (const name of names) {
			const file = path.join(this.dir, name);
			const taken = TAKEN.exec(name);
			if (!QUEUED.test(name) && !(taken && (inHand || isGone(taken[1] as string, file)))) continue;
			const text = readIfThere(file);
			const notice = text === undefined ? undefined : parseOrPutAside(noticeSchema, text, file);
			if (notice?.task === this.#task && this.#mayGoOut(notice, file, names)) found.push({ notice, file });
		}
		return found.sort((a, b) => (a.notice.at < b.notice.at ? -1 : 1));
	}

	/** An end is not told while a call is under way that may tell it, nor after one has. */
	#mayGoOut(notice: Notice, file: string, names: readonly string[]): boolean {
		if (notice.kind !== "completed" || notice.session_id === null) return true;
		if (isTold(procDir(this.#home, notice.session_id))) {
			unlinkIfThere(file);
			return false;
		}
		const held = isHeld(this.dir, notice.session_id, names);
		this.heldBack ||= held;
		return !held;
	}

	/** Drop the least important when there are too many; how many that makes with those it had pushed out itself. */
	#makeRoom(): number {
		if (namesIn(this.dir).filter((name) => QUEUED.test(name)).length < QUEUED_AT_MOST) return 0;
		const rank = ({ notice }: Waiting) => LEAST_FIRST.indexOf(notice.kind);
		const all = this.#waiting().sort((a, b) => rank(a) - rank(b)); // stable: the oldest of a kind first
		let dropped = 0;
		for (const { notice, file } of all.slice(0, Math.max(0, all.length - QUEUED_AT_MOST + 1))) {
			unlinkIfThere(file);
			dropped += 1 + (notice.dropped ?? 0);
		}
		return dropped;
	}
}

const droppedText = (count: number): string =>
	`(${count === 1 ? "One older notice was" : `${count} older notices were`} dropped: more than ${QUEUED_AT_MOST} were waiting. process(action="list") shows how things stand.)`;
