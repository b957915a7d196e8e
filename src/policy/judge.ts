/** Deciding again and again, as before every command: rules are read when their files have changed, and verdicts are remembered with what was looked up for them. */
import { realPath, versionOf } from "../base/index.js";
import type { PlaceFacts } from "../places/index.js";
import { decide, type RemoteAccount, type Rules, type Verdict } from "./decide.js";
import { readRules, ruleFiles } from "./file.js";
import { Looks } from "./looks.js";
import { plainTree } from "./plain.js";
import { LONGEST_TEXT, type Rule } from "./rule.js";
import { loadParser, ParserMissing } from "./tree.js";

const DIRECTORIES = 64;
const VERDICTS = 256;
const LONGEST = 2_000;

export interface PolicyQuestion {
	readonly command: string;
	readonly cwd: string;
	readonly place: PlaceFacts;
	readonly there?: RemoteAccount | undefined;
	readonly task: string;
}

/** Permissions of a person outside the files of rules, and definitions that the task's shell has. `version` changes when one of them does. */
export interface More {
	readonly version: string;
	rules(): readonly Rule[];
	/** Definitions of earlier commands, as shell text. */
	earlier(): string;
}

interface Judged extends Verdict {
	/** Its definitions, for decisions about later commands. */
	readonly defines: readonly string[];
}

interface Entry {
	readonly version: string;
	/** The files that its rules may come from. */
	readonly files: readonly string[];
	readonly rules: Rules;
	readonly earlier: string;
	/** Nothing but the rules, and what was looked up, can change what is decided. */
	readonly verdicts: Map<string, { readonly verdict: Judged; readonly looks: Looks }>;
}

export class Judge {
	readonly #env: NodeJS.ProcessEnv;
	readonly #entries = new Map<string, Entry>();

	/** `env` says where the home, Holdfast's own and the configuration are. */
	constructor(env: NodeJS.ProcessEnv) {
		this.#env = env;
	}

	/** No rule names a longer command. */
	readonly longestText = LONGEST_TEXT;

	/** A text may have been too much for the parser. A plain command alone does not wait for it. */
	async ready(command?: string): Promise<void> {
		if (command === undefined || !plainTree(command)) await loadParser();
	}

	/** Whether `judge` threw it because, for all that is plain in the command, something else has to be read: wait until it is `ready`, and ask again. */
	readonly needsParser = (error: unknown): boolean => error instanceof ParserMissing;

	/** Throws when a file of rules cannot be used. */
	judge({ command, cwd, place, there, task }: PolicyQuestion, more: More): Judged {
		const entry = this.#entry(place.local ? realPath(cwd) : undefined, task, more);
		const key = `${place.name}\0${place.kind}\0${place.contained}\0${place.alias}\0${there?.home}\0${there?.own}\0${cwd}\0${command}`;
		const known = entry.verdicts.get(key);
		if (known?.looks.hold()) return known.verdict;
		const looks = new Looks();
		const defined = new Set<string>();
		const decided = decide(command, {
			cwd,
			place,
			there,
			task,
			rules: entry.rules,
			env: this.#env,
			looks,
			earlier: entry.earlier,
			defined,
		});
		const verdict = { ...decided, defines: [...defined] };
		if (command.length <= LONGEST) {
			entry.verdicts.delete(key);
			entry.verdicts.set(key, { verdict, looks });
			dropOldest(entry.verdicts, VERDICTS);
		}
		return verdict;
	}

	/** Without a directory of this machine there is no project whose rules could hold. */
	#entry(cwd: string | undefined, task: string, more: More): Entry {
		const key = `${task}\0${cwd ?? ""}`;
		const known = this.#entries.get(key);
		const files = known?.files ?? ruleFiles(cwd, this.#env);
		const version = `${more.version}\n${files.map(versionOf).join("\n")}`;
		if (known?.version === version) return known;
		const rules = readRules(cwd, this.#env);
		const entry = { version, files, rules: { ...rules, own: [...rules.own, ...more.rules()] }, earlier: more.earlier(), verdicts: new Map() };
		this.#entries.delete(key);
		this.#entries.set(key, entry);
		dropOldest(this.#entries, DIRECTORIES);
		return entry;
	}
}

function dropOldest(map: Map<string, unknown>, most: number): void {
	for (const key of map.keys()) {
		if (map.size <= most) return;
		map.delete(key);
	}
}
