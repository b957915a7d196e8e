/** The conversations of a home: listed, found, named, removed when they are old. */
import fs from "node:fs";
import path from "node:path";
import {
	AgentError,
	type AgentHome,
	Claim,
	type Clock,
	conversationFile,
	inboxClaim,
	inboxFile,
	isConversationId,
	namesIn,
	nearNames,
	readIfThere,
	sessionLogFile,
	systemClock,
} from "../base/index.js";
import type { Entry } from "./entry.js";
import { undoneLines } from "./history.js";
import { Log } from "./log.js";

export interface SessionInfo {
	readonly id: string;
	readonly file: string;
	/** As the person set it. */
	readonly title: string | undefined;
	/** The beginning of the first message, in one line; empty if nothing was said. */
	readonly first: string;
	readonly startedAt: string;
	readonly updatedAt: string;
	/** Messages of persons and of the model. */
	readonly messages: number;
	readonly model: string;
	readonly place: string;
	readonly task: string;
	/** The conversation that it goes on from. */
	readonly from: string | undefined;
	readonly ended: string | undefined;
	/** Calls without a result: a turn was cut short, and goes on when it is resumed. */
	readonly openCalls: number;
	/** Why it cannot be opened. */
	readonly broken: string | undefined;
}

export interface ListOptions {
	readonly limit?: number;
	readonly task?: string;
}

/** Returns conversations in which something was said, the last used first. One that is damaged is listed with what is wrong with it. */
export function listSessions(home: AgentHome, options: ListOptions = {}): SessionInfo[] {
	const found: SessionInfo[] = [];
	for (const info of sessions(home, options)) if (found.push(info) >= (options.limit ?? Number.POSITIVE_INFINITY)) break;
	return found;
}

/** The one that `--continue` goes on with. */
export function lastSession(home: AgentHome, options: Omit<ListOptions, "limit"> = {}): SessionInfo | undefined {
	for (const info of sessions(home, options)) if (info.broken === undefined) return info;
	return undefined;
}

/** Reads each only when it is asked for: there may be thousands. */
function* sessions(home: AgentHome, { task }: ListOptions): Generator<SessionInfo> {
	for (const id of byLastUse(home)) {
		const info = describeSession(home, id);
		if (info && (task === undefined || info.task === task)) yield info;
	}
}

/** Finds a conversation by its id, the beginning or the last digits of it, or its title. Throws `NOT_FOUND`, with what it could have been. */
export function findSession(home: AgentHome, wanted: string): SessionInfo {
	const text = wanted.trim().toLowerCase();
	if (text === "") throw new AgentError("INVALID", "no conversation was named; give its id, the beginning of it, or its title");
	const ids = byLastUse(home);
	const exact = ids.includes(text) ? describeSession(home, text, { empty: true }) : undefined;
	if (exact) return exact;
	const byId = ids.filter((id) => id.startsWith(text) || (/^[0-9a-f]{6}$/.test(text) && id.endsWith(`_${text}`)));
	const all = byId.length > 0 ? [] : ids.filter((id) => hasTitle(home, id)).flatMap((id) => describeSession(home, id) ?? []);
	const titles = all.filter(({ title }) => title?.toLowerCase() === text);
	const fit =
		byId.length > 0
			? byId.flatMap((id) => describeSession(home, id) ?? [])
			: titles.length > 0
				? titles
				: all.filter(({ title }) => title?.toLowerCase().includes(text));
	const [only] = fit;
	if (only && fit.length === 1) return only;
	if (only)
		throw new AgentError(
			"NOT_FOUND",
			`"${wanted}" fits ${fit.length} conversations: ${fit.slice(0, 5).map(nameOf).join(", ")}${fit.length > 5 ? " …" : ""}; give the whole id`,
		);
	const near = nearNames(
		text,
		all.flatMap(({ title }) => title ?? []),
	);
	throw new AgentError(
		"NOT_FOUND",
		`there is no conversation "${wanted}"; ${near.length > 0 ? `did you mean ${near.map((title) => `"${title}"`).join(" or ")}?` : "`holdfast-agent sessions` lists them"}`,
	);
}

/** A look at the bytes takes a tenth of the time that the lines take. */
const hasTitle = (home: AgentHome, id: string): boolean => readIfThere(conversationFile(home, id))?.includes('"title":"') === true;

const nameOf = ({ id, title }: SessionInfo): string => (title === undefined ? id : `${id} "${title}"`);

/** Undefined if nothing was said in it, unless `empty`. */
export function describeSession(home: AgentHome, id: string, options: { readonly empty?: boolean } = {}): SessionInfo | undefined {
	try {
		const log = Log.read(home, id);
		const info = describeEntries(log.entries, conversationFile(home, id), log.openCalls.length);
		return info.messages > 0 || options.empty ? info : undefined;
	} catch (error) {
		if (!(error instanceof AgentError)) throw error;
		if (error.code === "NOT_FOUND") return undefined;
		return { ...describeEntries([], conversationFile(home, id), 0), id, broken: error.message };
	}
}

export function describeEntries(entries: readonly Entry[], file: string, openCalls: number): SessionInfo {
	const taken = undoneLines(entries);
	const said = entries.filter(({ t, n }) => (t === "user" || t === "assistant" || t === "partial") && !taken(n));
	const first = said.find((entry) => entry.t === "user");
	const last = entries.at(-1);
	const [begun] = entries;
	const sets = entries.filter((entry) => entry.t === "set");
	const start = begun?.t === "begun" ? begun : undefined;
	return {
		id: start?.id ?? path.basename(file, ".jsonl"),
		file,
		title: sets.findLast(({ title }) => title !== undefined)?.title || undefined,
		first: oneLine(first?.t === "user" ? first.text : ""),
		startedAt: begun?.at ?? "",
		updatedAt: last?.at ?? "",
		messages: said.length,
		model: sets.findLast(({ model }) => model !== undefined)?.model ?? start?.model ?? "",
		place: sets.findLast(({ place }) => place !== undefined)?.place ?? start?.place ?? "",
		task: start?.task ?? "",
		from: start?.from,
		ended: last?.t === "ended" ? last.why : undefined,
		openCalls,
		broken: undefined,
	};
}

/** Names a conversation. */
export async function setTitle(log: Log, title: string): Promise<void> {
	const text = oneLine(title);
	if (text === "") throw new AgentError("INVALID", "the title is empty; write one");
	await log.append({ t: "set", title: text });
}

/**
 * Removes conversations that were last used before so many days, with all that belongs to them; not one that a program writes to, or to which something was
 * said since. Returns their ids.
 */
export function pruneSessions(home: AgentHome, keepDays: number, clock: Clock = systemClock): string[] {
	const oldest = clock.now() - keepDays * 86_400_000;
	return byLastUse(home).filter((id) => {
		const isOld = (): boolean => Math.max(changedAt(conversationFile(home, id)), changedAt(inboxFile(home, id))) < oldest;
		if (!isOld()) return false;
		const dirs = [path.join(home.claims, id), inboxClaim(home, id)];
		const claims: Claim[] = [];
		for (const dir of dirs) {
			const claim = Claim.take(dir, "prune");
			if (!(claim instanceof Claim)) break;
			claims.push(claim);
		}
		const goes = claims.length === dirs.length && isOld();
		if (goes) {
			for (const name of namesIn(home.conversations))
				if (name.startsWith(`${id}.`)) fs.rmSync(path.join(home.conversations, name), { recursive: true, force: true });
			for (const file of [inboxFile(home, id), sessionLogFile(home, id)]) fs.rmSync(file, { force: true });
		}
		for (const claim of claims) claim.release();
		if (goes) for (const dir of dirs) fs.rmSync(dir, { recursive: true, force: true });
		return goes;
	});
}

const changedAt = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Ids, the last written to first. */
function byLastUse(home: AgentHome): string[] {
	return namesIn(home.conversations)
		.filter((name) => name.endsWith(".jsonl"))
		.map((name) => name.slice(0, -".jsonl".length))
		.filter(isConversationId)
		.map((id) => ({ id, at: changedAt(conversationFile(home, id)) }))
		.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
		.map(({ id }) => id);
}

const SHOWN = 80;

/** Text of others in one line, without control characters. */
function oneLine(text: string): string {
	const line = text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ").trim();
	return line.length > SHOWN ? `${line.slice(0, SHOWN - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
