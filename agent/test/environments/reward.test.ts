import { describe, expect, it } from "vitest";
import { rewardIn } from "../../src/environments/harbor/reward.js";
import { EpisodeError } from "../../src/episode/index.js";

const files = ({ json, txt }: { readonly json?: string; readonly txt?: string }) => ({
	json: json === undefined ? json : Buffer.from(json),
	txt: txt === undefined ? txt : Buffer.from(txt),
});
function said(given: { readonly json?: string; readonly txt?: string }): string {
	try {
		return JSON.stringify(rewardIn(files(given)));
	} catch (error) {
		if (!(error instanceof EpisodeError)) throw error;
		return `${error.of} ${error.code}: ${error.message}`;
	}
}

describe("a reward", () => {
	it.each([
		[{ txt: "1\n" }, '{"reward":1}'],
		[{ txt: " -0.25e1" }, '{"reward":-2.5}'],
		[{ json: '{"reward": 0.5, "speed": 2, "note": "x", "done": true}' }, '{"reward":0.5,"parts":{"speed":2}}'],
		[{ json: '{"speed": 2}', txt: "1" }, '{"reward":1,"parts":{"speed":2}}'],
		[{ json: '{"reward": 0}', txt: "1" }, '{"reward":0}'],
	])("is read from %j", (given, wanted) => {
		expect(said(given)).toBe(wanted);
	});

	it.each([
		[{}, /^scorer reward_missing: /],
		[{ txt: "" }, /^scorer reward_empty: reward.txt is empty/],
		[{ json: " \n" }, /^scorer reward_empty: reward.json is empty/],
		[{ txt: "NaN" }, /^scorer reward_invalid: reward.txt is no finite number; it begins with "NaN"/],
		[{ txt: "inf" }, /^scorer reward_invalid: /],
		[{ txt: "1e999" }, /^scorer reward_invalid: /],
		[{ txt: "true" }, /^scorer reward_invalid: /],
		[{ txt: "0x10" }, /^scorer reward_invalid: /],
		[{ txt: "1 2" }, /^scorer reward_invalid: /],
		[{ json: "{" }, /^scorer reward_invalid: reward.json is no JSON; it begins with "\{"/],
		[{ json: "[1]" }, /^scorer reward_invalid: reward.json is no object/],
		[{ json: "null" }, /^scorer reward_invalid: /],
		[
			{ json: '{"reward": true}', txt: "1" },
			/^scorer reward_invalid: reward.json has a "reward" that is no finite number; it begins with "\{\\"reward\\": true\}"/,
		],
		[{ json: '{"reward": 1e999}' }, /^scorer reward_invalid: /],
		[{ json: '{"reward": NaN}' }, /^scorer reward_invalid: reward.json is no JSON/],
		[{ json: '{"speed": 1}' }, /^scorer reward_invalid: reward.json has no number "reward"/],
		[{ txt: "1".repeat(1024 * 1024 + 1) }, /^scorer reward_invalid: reward.txt is larger than 1 MB; it begins with "1{200}"$/],
	])("that is none is an error of the scorer, and never 0: %#", (given, words) => {
		expect(said(given)).toMatch(words);
	});
});
