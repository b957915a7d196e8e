/** The decision about a command: the strictest one over all of its parts. */
import os from "node:os";
import path from "node:path";
import { configDir, defaultHome, realPath } from "../base/index.js";
import type { PlaceFacts } from "../places/index.js";
import { DEFAULTS, FLOOR } from "./defaults.js";
import type { FoundCommand } from "./found.js";
import { Looks } from "./looks.js";
import { type Circumstances, matches } from "./match.js";
import { readings } from "./readings.js";
import type { Decision, Rule } from "./rule.js";
import type { World } from "./scope.js";
import { understand } from "./walk.js";
import type { Word } from "./word.js";

/** The rules that hold: the person's own, in order, and what they made of the default set. */
export interface Rules {
	readonly own: readonly Rule[];
	readonly defaults: readonly Rule[];
	/** Remarks for a person on how these rules came together. */
	readonly notes: readonly string[];
}

export const DEFAULT_RULES: Rules = { own: [], defaults: DEFAULTS, notes: [] };

export interface RemoteAccount {
	readonly home: string;
	readonly own: string;
}

export interface DecideOptions {
	/** Absolute; where the command would run. */
	readonly cwd: string;
	/** Default: this machine, without a boundary. */
	readonly place?: PlaceFacts;
	/** For a remote machine: the home directory of its account, and the directory of Holdfast's own files. */
	readonly there?: RemoteAccount | undefined;
	readonly task?: string;
	readonly rules?: Rules;
	/** Says where the home, Holdfast's own and the configuration are (default: this program's). */
	readonly env?: NodeJS.ProcessEnv;
	/** Takes what is looked up: as long as it holds, the same command is decided the same. */
	readonly looks?: Looks;
	/** Definitions that the shell has kept from earlier commands, as shell text. */
	readonly earlier?: string;
	/** Takes those of this command. */
	readonly defined?: Set<string>;
}

/** A piece of the command: from byte `start` to before byte `end` of its UTF-8. */
export interface Part {
	readonly start: number;
	readonly end: number;
	readonly text: string;
	/** The program that would run in it; null if that is not known. */
	readonly program: string | null;
	readonly decision: Decision;
	readonly rule: string | null;
	readonly reason: string | null;
}

export interface Verdict {
	readonly decision: Decision;
	/** The id of the rule that decided; null when none is about this command. */
	readonly rule: string | null;
	readonly reason: string | null;
	/** The part that the decisive rule is about; null without such a rule. */
	readonly part: Pick<Part, "start" | "end" | "text"> | null;
	/** Every command that would run, in the order of the text. */
	readonly parts: readonly Part[];
}

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/** `loadParser()` comes first; then this is synchronous, runs nothing and changes nothing. */
export function decide(command: string, options: DecideOptions): Verdict {
	const circumstances = circumstancesOf(command, options);
	const rules = options.rules ?? DEFAULT_RULES;
	const parts: Part[] = [];
	const decided = new Map<string, Rule | null>();
	for (const { text, offsets, pretended } of readings(command)) {
		for (const found of understand(text, circumstances.world)) {
			if (pretended && (found.trait === "unreadable" || found.trait === "unknown-script")) continue;
			const key = keyOf(found);
			const known = key === null ? undefined : decided.get(key);
			const rule = known !== undefined ? known : ruleFor(found, rules, circumstances);
			if (key !== null) decided.set(key, rule);
			if (pretended && (!rule || parts.some((part) => part.rule === rule.id))) continue;
			if (!pretended && offsets !== null && !rule) continue;
			parts.push(partOf(command, offsets ? { start: offsets[found.start] ?? 0, end: offsets[found.end] ?? command.length } : found, found, rule));
		}
	}
	const strictest = parts.reduce<Part | null>(
		(best, part) => (part.rule !== null && (!best || STRICTNESS[part.decision] > STRICTNESS[best.decision]) ? part : best),
		null,
	);
	return {
		decision: strictest?.decision ?? "allow",
		rule: strictest?.rule ?? null,
		reason: strictest?.reason ?? null,
		part: strictest ? { start: strictest.start, end: strictest.end, text: strictest.text } : null,
		parts,
	};
}

/** Long texts say the same again and again: equal commands are decided once. Null for those that depend on more than their own words. */
function keyOf({ names, args, reads, writes, input, prints, upstream, cwds, links, remote, trait, code }: FoundCommand): string | null {
	if (upstream.length > 0 || links.length > 0 || prints !== null) return null;
	const said = (list: readonly Word[]) => list.map(({ text, glob, appends }) => `${text}\x02${glob}${appends}`).join("\x03");
	return [names.join("\x03"), said(args), said(reads), said(writes), input, cwds.join("\x03"), remote, trait, code].join("\x04");
}

/** Whether any command in the text is one the rule is about: how its examples are checked. */
export function concerns(rule: Rule, command: string, options: DecideOptions): boolean {
	const { place: _place, task: _task, cwd: _cwd, ...match } = rule.match; // an example says what is run, not where or for whom
	if (match.text && Object.keys(match).length === 1) return match.text.includes(command);
	const circumstances = circumstancesOf(command, options);
	return readings(command).some(({ text }) =>
		understand(text, circumstances.world).some((found) => matches({ match, decision: rule.decision }, found, circumstances)),
	);
}

function ruleFor(found: FoundCommand, { own, defaults }: Rules, circumstances: Circumstances): Rule | null {
	const first = (rules: readonly Rule[]) => rules.find((rule) => matches(rule, found, circumstances));
	// In a sandbox the sandbox is the boundary: only the floor and the person's own rules are left.
	const rule = first(FLOOR) ?? first(own) ?? (circumstances.contained ? null : (first(defaults) ?? null));
	return rule?.decision === "ask" ? (first(own.filter(isAnswer)) ?? rule) : rule;
}

/** A rule that allows one whole text is an answer given beforehand: it stands for a question, wherever in the file it is, and never against a `deny`. */
const isAnswer = ({ decision, match }: Rule): boolean => decision === "allow" && match.text !== undefined;

const THIS_MACHINE: PlaceFacts = { name: "local", kind: "local", local: true, contained: false };

function circumstancesOf(
	text: string,
	{ cwd, place = THIS_MACHINE, there, task = "default", env = process.env, looks = new Looks(), earlier = "", defined = new Set() }: DecideOptions,
): Circumstances {
	const { local } = place;
	const world: World = {
		cwd: local ? realPath(path.resolve(cwd)) : path.resolve("/", cwd),
		home: there?.home ?? looks.root(realPath, env.HOME || os.homedir()),
		state: there?.own ?? looks.root(realPath, defaultHome(env)),
		config: there ? path.join(there.home, ".config/holdfast") : looks.root(realPath, configDir(env)),
		local,
		looks,
		earlier,
		defined,
	};
	return { world, contained: place.contained, names: namesOf(place), task, text };
}

/** Returns the names by which a rule may refer to a place: its display name, its kind, and its name in config.json. */
const namesOf = ({ name, kind, alias }: PlaceFacts): string[] => [name, kind, ...(alias === undefined ? [] : [alias])];

function partOf(command: string, { start, end }: { start: number; end: number }, found: FoundCommand, rule: Rule | null): Part {
	const text = command.slice(start, end);
	const from = Buffer.byteLength(command.slice(0, start));
	return {
		start: from,
		end: from + Buffer.byteLength(text),
		text,
		program: found.names[0] ?? null,
		decision: rule?.decision ?? "allow",
		rule: rule?.id ?? null,
		reason: rule?.reason ?? null,
	};
}
