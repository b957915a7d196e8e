/** The reward that tests have written: `reward.json`, else `reward.txt`. What is no reward is an error with its first bytes, and never 0. */
import { EpisodeError } from "../../episode/index.js";

const LARGEST = 1024 * 1024;
const SHOWN = 200;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

export interface RewardFiles {
	/** Undefined: it is not there. */
	readonly json: Buffer | undefined;
	readonly txt: Buffer | undefined;
}

export interface Reward {
	readonly reward: number;
	readonly parts?: Readonly<Record<string, number>>;
}

/** So much of a file has to be read to know that it is too large. */
export const REWARD_BYTES = LARGEST + 1;

export function rewardIn({ json, txt }: RewardFiles): Reward {
	if (json === undefined && txt === undefined)
		throw new EpisodeError("scorer", "reward_missing", "the tests wrote neither reward.json nor reward.txt to the verifier's logs");
	if (json === undefined) return { reward: numberIn("reward.txt", txt as Buffer) };
	const parts = partsIn(json);
	const reward = Object.hasOwn(parts, "reward") ? parts.reward : txt && numberIn("reward.txt", txt);
	if (reward === undefined) throw invalid("reward.json", json, 'has no number "reward", and there is no reward.txt');
	const { reward: _, ...rest } = parts;
	return { reward, ...(Object.keys(rest).length > 0 ? { parts: rest } : {}) };
}

function partsIn(json: Buffer): Record<string, number> {
	const text = checked("reward.json", json);
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw invalid("reward.json", json, "is no JSON");
	}
	if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("reward.json", json, "is no object");
	const entries = Object.entries(value);
	const own = entries.find(([key]) => key === "reward");
	if (own && !isReward(own[1])) throw invalid("reward.json", json, `has a "reward" that is no finite number`);
	return Object.fromEntries(entries.filter((entry): entry is [string, number] => isReward(entry[1])));
}

const isReward = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

function numberIn(file: string, bytes: Buffer): number {
	const text = checked(file, bytes).trim();
	if (!NUMBER.test(text) || !Number.isFinite(Number(text))) throw invalid(file, bytes, "is no finite number");
	return Number(text);
}

function checked(file: string, bytes: Buffer): string {
	if (bytes.length > LARGEST) throw invalid(file, bytes, "is larger than 1 MB");
	const text = bytes.toString("utf8");
	if (text.trim() === "") throw new EpisodeError("scorer", "reward_empty", `${file} is empty`);
	return text;
}

const invalid = (file: string, bytes: Buffer, what: string): EpisodeError =>
	new EpisodeError("scorer", "reward_invalid", `${file} ${what}; it begins with ${JSON.stringify(bytes.subarray(0, SHOWN).toString("latin1"))}`);
