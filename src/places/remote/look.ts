/**
 * Looks at one remote process directory. First the request is parked remotely until something differs from what is known; then come
 * questions that only the kernel can answer: in the same answer, if the remote end supports that and they equal those of the previous look, else
 * separately. All of that precedes a last look at the size of the log, so that "drained" is never said of a log that has more.
 */
import { type Identity, parseStat, readsStdin } from "../../base/index.js";
import { NO_VITALS, RECORD_BYTES, segmentName } from "../../keeper/index.js";
import { type Link, type LinkQuestion, parseInode } from "../link/index.js";
import { answersFor } from "./answers.js";
import type { LookRequest, Seen } from "./seen.js";

const RECORDS = ["exit", "state", "limit"];
const FILES = ["meta", "gaps", "killed", "stuck", "shell/ready", "times"];
const UNKNOWN = "?"; // no record equals this, so the answer comes at once
const MOST = 1024 * 1024;

/** State between two looks at the same directory. */
export class Looker {
	#meta: { readonly size: number; readonly bytes?: Buffer; readonly parts: ReadonlyMap<string, Identity> } = { size: -1, parts: new Map() };
	/** The dd that copies the output: `PID START`. */
	#copier: string | undefined;
	/** A collector that has been seen gone. */
	#gone: string | undefined;
	/** The probable questions of the next look. */
	#expected: readonly LinkQuestion[] = [];
	/** The last answer that the next look can refer to. */
	#last: { readonly link: Link; readonly stamp: string; readonly id: number; readonly questions: readonly LinkQuestion[] } | undefined;

	async look(link: Link, wanted: LookRequest, directory: string, signal?: AbortSignal): Promise<Seen> {
		const known = wanted.stamp === "" ? undefined : (JSON.parse(wanted.stamp) as Stamp);
		const before = { copier: this.#copier, gone: this.#gone };
		const previous = this.#last?.link === link && this.#last.stamp === wanted.stamp ? this.#last : undefined;
		const expected = previous?.questions ?? this.#expected;
		this.#last = undefined;
		const news = await link.watch(
			directory,
			{
				offset: wanted.offset,
				records: known?.records ?? Object.fromEntries(RECORDS.map((name) => [name, UNKNOWN])),
				sizes: known?.sizes ?? Object.fromEntries(FILES.map((name) => [name, -1])),
				max: wanted.max,
			},
			signal,
			{ questions: expected, after: previous?.id },
		);
		if (!news) return withoutDirectory(link, wanted.parts());
		const text = (name: string) => news.records[name]?.text ?? "";
		const size = (name: string) => news.sizes[name] ?? -1;
		if (size("meta") !== this.#meta.size) await this.#readMeta(link, directory, size("meta"));
		const over = text("exit") !== "";
		const closed = text("state").startsWith("closed");
		// The program that ran it may be gone without a record of the end. When a caller has just asked, that justifies a question of its own.
		const left = !over && !closed && known === undefined && wanted.shell !== undefined && !(await this.#isThere(link, wanted.shell.pid));

		const last = news.segments.at(-1);
		const { parts } = this.#meta;
		const collector = parts.get("collector");
		const pid = wanted.shell?.pid ?? parts.get("command")?.pid ?? parts.get("child")?.pid;
		const at = (name: string) => `${directory}/${name}`;
		const ask = {
			// Asked before the end if that is cheap: at the end it then tells at once whether the log is complete.
			copier: collector && !closed && (over || left || link.facts.helper === "perl") ? ({ ask: "copier", collector: collector.pid } as const) : undefined,
			segment: last && ({ ask: "inode", path: at(segmentName(last.offset)) } as const),
			children: pid === undefined ? undefined : content(`/proc/${pid}/task/${pid}/children`),
			own: pid === undefined ? undefined : stat(pid),
			syscall: pid === undefined ? undefined : content(`/proc/${pid}/syscall`),
			ready: size("shell/ready") > 0 ? content(at("shell/ready")) : undefined,
			begun: size("shell/ready") >= 0 ? content(at("shell/begun")) : undefined, // changes with every command: no reason to look
			gaps: size("gaps") > 0 ? content(at("gaps")) : undefined,
		} satisfies Record<string, LinkQuestion | undefined>;
		const stats = [...parts.values()].map((part) => stat(part.pid));
		const {
			named,
			rest,
			questions,
			expected: asExpected,
		} = await answersFor(link, ask, [...stats, { ask: "ending", path: at("exit") }], { expected, answers: news.answers ?? [], signal });
		this.#expected = questions;
		const exit = rest.pop();
		// The process has ended meanwhile: its parts are gone, and this look would not tell why.
		if (!over && /^\S/.test(exit?.toString("latin1") ?? "")) return this.look(link, { ...wanted, stamp: "" }, directory, signal);

		const [alive, dead] = sorted([...parts.values()], rest);
		// Seen before the last read of `exit`: a dead shell adds nothing to it any more.
		if (wanted.shell && !isThere(named.own, wanted.shell) && !dead.includes(nameOf(wanted.shell))) dead.push(nameOf(wanted.shell));
		const copier = parseStat(named.copier?.toString("latin1") ?? "");
		this.#copier = copier && `${copier.pid} ${copier.start}`;
		const relay = parts.get("terminal") && parts.get("child");
		const collects = collector !== undefined && alive.includes(`${collector.pid} ${collector.start}`);
		const relays = relay !== undefined && alive.includes(`${relay.pid} ${relay.start}`);
		const grown = last !== undefined && named.segment !== undefined && parseInode(named.segment).size > last.size;
		if (collector && !collects) this.#gone = collector.start;
		// Only what was known before this look at the log began proves that the log is complete.
		const drained =
			text("state").startsWith("closed") ||
			(collector !== undefined && before.gone === collector.start) ||
			(!relays && last !== undefined && copier?.state === "S" && before.copier === this.#copier && !grown);

		const records = new Map<string, { bytes: Buffer; at: number }>();
		const put = (name: string, bytes: Buffer | undefined) => bytes && records.set(name, { bytes, at: news.records[name]?.at ?? Date.now() });
		for (const name of ["state", "limit"]) if (text(name) !== "") put(name, whole(text(name)));
		put("exit", over ? endOf(exit, text("exit")) : Buffer.from(whole("")));
		put("meta", this.#meta.bytes); // as of the look at its processes: the state of a later one is unknown
		put("gaps", named.gaps);
		put("shell/ready", named.ready);
		put("shell/begun", named.begun);
		for (const name of ["killed", "stuck"]) if (size(name) >= 0) put(name, Buffer.alloc(0));
		const own = named.own?.toString("latin1") ?? "";
		const faults = own.slice(own.lastIndexOf(")") + 2).split(" ", 11);
		const stamp = JSON.stringify({ records: Object.fromEntries(RECORDS.map((name) => [name, text(name)])), sizes: news.sizes } satisfies Stamp);
		if (news.id !== undefined && asExpected) this.#last = { link, stamp, id: news.id, questions: expected };
		return {
			stamp,
			gone: false,
			records,
			segments: news.segments.map(({ offset, size: bytes }) => ({ start: offset, size: bytes })),
			alive,
			dead,
			drained,
			idle: readsStdin(named.syscall?.toString("latin1")),
			children: (named.children?.toString("latin1") ?? "").trim().split(" ").filter(Boolean).map(Number),
			reaped: `${faults[8]} ${faults[10]}`,
			offset: news.offset,
			bytes: news.bytes,
			...(await this.#times(link, `${directory}/times`, wanted.times, size("times"), signal)),
		};
	}

	async #isThere(link: Link, pid: number): Promise<boolean> {
		const [answer] = await link.look([stat(pid)]);
		return !["Z", "X", undefined].includes(parseStat(answer?.toString("latin1") ?? "")?.state);
	}

	async #times(link: Link, file: string, times: number, size: number, signal?: AbortSignal): Promise<{ times: Buffer; timesOffset: number }> {
		if (size <= times) return { times: Buffer.alloc(0), timesOffset: times };
		const { bytes } = await link.read(file, times, MOST, signal);
		return { times: bytes, timesOffset: times };
	}

	async #readMeta(link: Link, directory: string, size: number): Promise<void> {
		if (size < 0) return;
		const { bytes } = await link.read(`${directory}/meta`, 0, MOST);
		const parts = new Map<string, Identity>();
		for (const line of bytes.toString("latin1").split("\n")) {
			const [role, pid, start] = line.split(" ");
			if (role && pid && start) parts.set(role, { pid: Number(pid), start });
		}
		this.#meta = { size: bytes.length, bytes, parts };
	}
}

interface Stamp {
	readonly records: Readonly<Record<string, string>>;
	readonly sizes: Readonly<Record<string, number>>;
}

const stat = (pid: number): LinkQuestion => ({ ask: "stat", pid });
const content = (path: string): LinkQuestion => ({ ask: "content", path });

function isThere(answer: Buffer | undefined, { start }: Identity): boolean {
	const found = parseStat(answer?.toString("latin1") ?? "");
	return found !== undefined && found.start === start && found.state !== "Z" && found.state !== "X";
}

const nameOf = ({ pid, start }: Identity): string => `${pid} ${start}`;

/** Returns which processes are alive, and which are not. */
function sorted(parts: readonly Identity[], stats: readonly (Buffer | undefined)[]): [alive: string[], dead: string[]] {
	const [alive, dead]: [string[], string[]] = [[], []];
	for (const [index, part] of parts.entries()) (isThere(stats[index], part) ? alive : dead).push(nameOf(part));
	return [alive, dead];
}

/** Checks the processes of a missing directory: they may run nevertheless. */
async function withoutDirectory(link: Link, parts: readonly Identity[]): Promise<Seen> {
	const [alive, dead] = sorted(parts, await link.look(parts.map((part) => stat(part.pid))));
	return { ...goneFor(undefined, false), alive, dead };
}

const whole = (text: string): Buffer => Buffer.from(text.padEnd(RECORD_BYTES - 1).concat("\n"), "latin1");

/** Returns the record with what follows it; if it is being rewritten right now, as first seen. */
function endOf(content: Buffer | undefined, seen: string): Buffer {
	return content && content.toString("latin1", 0, RECORD_BYTES) === whole(seen).toString("latin1") ? content : whole(seen);
}

/** Returns the result for a machine without anything to look at. */
export const goneFor = (why: string | undefined, kept: boolean): Seen => ({
	stamp: "",
	gone: true,
	...(why === undefined ? {} : { why }),
	records: new Map(),
	segments: [],
	...NO_VITALS,
	drained: !kept,
	offset: 0,
	bytes: Buffer.alloc(0),
	times: Buffer.alloc(0),
	timesOffset: 0,
});
