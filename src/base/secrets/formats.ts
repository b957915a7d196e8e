/** Keys that can be known by their beginning. */

/** Which characters may be in a key: bits of `CLASS`. */
const UPPER = 1;
const LOWER = 2;
const DIGIT = 4;
const DASH = 8; // - and _
const BASE64 = 16; // + / =
const DOT = 32;
const ALNUM = UPPER | LOWER | DIGIT;
const WORD = ALNUM | DASH;

const CLASS = new Uint8Array(65_536); // by code unit; but for ASCII nothing is in any class
for (let code = 0; code < 128; code++) {
	const char = String.fromCharCode(code);
	CLASS[code] =
		(/[A-Z]/.test(char) ? UPPER : 0) |
		(/[a-z]/.test(char) ? LOWER : 0) |
		(/[0-9]/.test(char) ? DIGIT : 0) |
		(/[-_]/.test(char) ? DASH : 0) |
		(/[+/=]/.test(char) ? BASE64 : 0) |
		(char === "." ? DOT : 0);
}

export interface SecretFormat {
	/** Stays to be seen. */
	readonly prefix: string;
	readonly of: number;
	readonly least: number;
	/** A longer one is something else. */
	readonly most?: number;
	/** Also ordinary words begin like this: there must be digits in it. */
	readonly digits?: number;
}

const format = (of: number, least: number, prefixes: string, more: Pick<SecretFormat, "most" | "digits"> = {}): SecretFormat[] =>
	prefixes.split(" ").map((prefix) => ({ prefix, of, least, ...more }));

export const FORMATS: readonly SecretFormat[] = [
	// Anthropic, OpenAI and those who write theirs the same way
	...format(WORD, 20, "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-"),
	...format(WORD, 20, "sk-", { digits: 3 }),
	// AWS key ids
	...format(UPPER | DIGIT, 16, "AKIA ASIA ABIA ACCA", { most: 16 }),
	// GitHub, GitLab, Bitbucket, Atlassian
	...format(ALNUM, 30, "ghp_ gho_ ghu_ ghs_ ghr_"),
	...format(WORD, 22, "github_pat_"),
	...format(WORD | DOT, 20, "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-"),
	...format(WORD | BASE64, 30, "ATATT3 ATBB ATCTT3"),
	// Slack
	...format(WORD, 10, "xoxb- xoxp- xoxa- xoxs- xoxr- xoxe- xoxo- xoxc- xoxd- xapp-", { digits: 3 }),
	// Google
	...format(WORD, 30, "AIza", { most: 40 }),
	...format(WORD, 20, "GOCSPX- ya29."),
	...format(WORD, 40, "1//0"),
	// Stripe, Square, Shopify
	...format(ALNUM, 16, "sk_live_ sk_test_ rk_live_ rk_test_"),
	...format(ALNUM | BASE64, 24, "whsec_"),
	...format(WORD, 22, "sq0atp- sq0csp- EAAAE"),
	...format(ALNUM, 32, "shpat_ shpca_ shppa_ shpss_"),
	// package registries
	...format(ALNUM, 36, "npm_"),
	...format(WORD, 50, "pypi-"),
	...format(LOWER | DIGIT, 40, "rubygems_"),
	...format(WORD, 20, "dckr_pat_ dckr_oat_"),
	...format(ALNUM, 32, "cio", { most: 32, digits: 3 }),
	// models and what goes with them
	...format(ALNUM, 30, "hf_"),
	...format(ALNUM, 30, "gsk_ pplx- xai- r8_ csk- nvapi- tvly- lsv2_pt_ lsv2_sk_ jina_ morph_ bb_live_"),
	...format(WORD, 30, "nvapi- voy- tvly-dev- lsv2_"),
	...format(LOWER | DIGIT, 32, "fc- e2b_ dtn_ fw_", { digits: 3 }),
	// clouds, databases, operations
	...format(LOWER | DIGIT, 40, "dop_v1_ doo_v1_ dor_v1_ sbp_ pul-"),
	...format(LOWER | DIGIT, 32, "dapi key-", { digits: 6 }),
	...format(WORD | DOT, 24, "hvs. hvb. hvr. dp.pt. dp.st. SG."),
	...format(WORD, 30, "glsa_ glc_ lin_api_ ntn_ figd_ sntrys_ sntryu_ PMAK- tskey-auth- tskey-api- tskey-client-"),
	...format(UPPER | DIGIT, 50, "AGE-SECRET-KEY-1"),
	...format(ALNUM | BASE64, 40, "AccountKey= SharedAccessKey="),
];

export const LONGEST_PREFIX = Math.max(...FORMATS.map(({ prefix }) => prefix.length));

/** Returns where a run of characters of a class ends, from `at` on; at `most` at the latest. */
export function runEnd(text: string, at: number, of: number, most: number = text.length): number {
	let end = at;
	while (end < most && isOf(text, end, of)) end++;
	return end;
}

/** Nothing is before the beginning of a text, and nothing behind its end. */
export const isOf = (text: string, at: number, of: number): boolean => ((CLASS[text.charCodeAt(at)] ?? 0) & of) !== 0;

export const CLASSES = { ALNUM, WORD, DOT, BASE64 } as const;
