/**
 * The forms of secrets in text. A rule is tried where its trigger stands, and looks a bounded way around it: whatever the text,
 * the work stays in proportion to its length.
 */
import { CLASSES, FORMATS, isOf, runEnd, type SecretFormat } from "./formats.js";
import { isPlaceholder, looksRandom, secretName } from "./names.js";

/** `hide`: these characters. `open`: the text ends here, and with more of it this may become a secret, some of which is here already. `skip`: none before there. */
export type Finding = { readonly hide: readonly [from: number, to: number] } | { readonly open: number } | { readonly skip: number } | undefined;

export interface SecretRule {
	/** Three characters or more; capitals and small letters are the same here. */
	readonly triggers: readonly string[];
	/** Also where a secret was found before, so that one can follow another at once. */
	readonly inside?: boolean;
	/** `hidden`: where the last secret that was found ends. */
	find(text: string, at: number, hidden: number): Finding;
}

const { ALNUM, WORD, DOT, BASE64 } = CLASSES;
const LONGEST_NAME = 80;
const LONGEST_VALUE = 4096;
const LOOKED_AT = 128; // of a value, to say whether it is a secret
const LONGEST_KEY = 16 * 1024; // a private key

const keyFormat = (format: SecretFormat): SecretRule => {
	const { prefix, of, least, most, digits = 0 } = format;
	const apart = digits > 0 || most !== undefined ? of | ALNUM : ALNUM; // else one that fails would be tried again inside of itself
	return {
		triggers: [prefix],
		inside: true,
		find(text, at, hidden) {
			if (!text.startsWith(prefix, at) || !standsApart(text, at, apart, hidden)) return undefined;
			const from = at + prefix.length;
			const near = runEnd(text, from, of, from + LOOKED_AT); // one that fails must not cost more, however long the run is
			if (near - from < least) return near === text.length && near > from ? { open: at } : undefined;
			if (digitsIn(text, from, near) < digits) return undefined;
			if (most === undefined) return { hide: [from, runEnd(text, near, of)] };
			if (near - from <= most) return { hide: [from, near] };
			for (let to = from + least; to <= from + most; to++) if (beginsKey(text, to)) return { hide: [from, to] };
			return undefined;
		},
	};
};

const beginsKey = (text: string, at: number): boolean => text.startsWith("eyJ", at) || FORMATS.some(({ prefix }) => text.startsWith(prefix, at));

/** An escape at the end of a text, as JSON, a program's own notation or a URL writes it; a colour among them. */
const ESCAPE =
	/(?:\\(?:[bfnrtv0"'\\/]|x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|[0-3][0-7]{2})|\^\[|%[0-9a-f]{2}|=3D)$|(?:\\(?:e|x[19]b|u00[19]b|u\{[19]b\}|033)|\^\[)\[[\d;?]{0,16}[A-Za-z]$/i;
const LONGEST_ESCAPE = 30;

/** No longer word begins before it: there is nothing of the class `of` there, or an escape, or another secret. */
function standsApart(text: string, at: number, of: number, hidden: number): boolean {
	return !isOf(text, at - 1, of) || (hidden > 0 && at <= hidden) || endsInEscape(text, at);
}

const endsInEscape = (text: string, at: number): boolean => ESCAPE.test(text.slice(Math.max(0, at - LONGEST_ESCAPE), at));

function digitsIn(text: string, from: number, to: number): number {
	let count = 0;
	for (let at = from; at < to && count < 10; at++) if (text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) count++;
	return count;
}

/** Three parts of base64 with dots between, the first a JSON object. */
const jwt: SecretRule = {
	triggers: ["eyJ"],
	inside: true,
	find(text, at, hidden) {
		if (!text.startsWith("eyJ", at) || !standsApart(text, at, ALNUM, hidden)) return undefined;
		const header = runEnd(text, at, WORD);
		const payload = text[header] === "." ? runEnd(text, header + 1, WORD) : header;
		if (payload === text.length && payload - at < LONGEST_VALUE && payload - header < 10) return { open: at };
		if (header - at < 10 || payload - header < 10) return { skip: payload };
		return { hide: [at + 3, text[payload] === "." ? runEnd(text, payload + 1, WORD | DOT) : payload] };
	},
};

const telegram: SecretRule = {
	triggers: [":AA"],
	find(text, at) {
		if (!text.startsWith(":AA", at) || !/^\d{8}$/.test(text.slice(Math.max(0, at - 8), at))) return undefined;
		const to = runEnd(text, at + 1, WORD);
		if (to - at >= 34 && to - at <= 40) return { hide: [at + 1, to] };
		return to === text.length && to - at < 34 ? { open: at - 8 } : undefined;
	},
};

/** Tokens of Discord, which begin with a number in base64. */
const discord: SecretRule = {
	triggers: ["M", "N", "O"].flatMap((a) => ["D", "T", "j", "z"].flatMap((b) => [..."AEIMQUYcgk"].map((c) => a + b + c))),
	find(text, at, hidden) {
		if (!standsApart(text, at, ALNUM, hidden)) return undefined;
		const one = runEnd(text, at, WORD, at + 40);
		if (one - at < 22 || one - at > 30 || text[one] !== ".") return undefined;
		const two = runEnd(text, one + 1, WORD, one + 12);
		if (two - one < 6 || two - one > 9 || text[two] !== ".") return undefined;
		const three = runEnd(text, two + 1, WORD);
		return three - two >= 26 ? { hide: [at + 3, three] } : undefined;
	},
};

const webhook: SecretRule = {
	triggers: ["hooks.slack.com/services/", "/api/webhooks/"],
	find(text, at) {
		const path = /hooks\.slack\.com\/services\/|\/api\/webhooks\/\d+\//y;
		path.lastIndex = at;
		if (!path.test(text)) return undefined;
		const to = runEnd(text, path.lastIndex, WORD | BASE64);
		return to - path.lastIndex >= 20 ? { hide: [path.lastIndex, to] } : undefined;
	},
};

/** `scheme://user:password@host`. */
const url: SecretRule = {
	triggers: ["://"],
	find(text, at) {
		const shape = /:\/\/[^\s/:@"'`<>()[\]]{0,128}:([^\s/@"'`<>]{1,256})(@?)/y;
		shape.lastIndex = at;
		const match = shape.exec(text);
		const [, password = "", sign] = match ?? [];
		if (!match || /^\d{1,5}$/.test(password) || isPlaceholder(password)) return undefined;
		const to = shape.lastIndex - (sign ?? "").length;
		if (sign) return { hide: [to - password.length, to] };
		return shape.lastIndex === text.length ? { open: at } : undefined;
	},
};

const SCHEMES = /(?:authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:[A-Za-z][\w-]{1,30}[ \t]{1,4})?|bearer[ \t]{1,4})["']?/iy;

/** `Authorization: Bearer …`, with any scheme or none, and `Bearer …` alone. */
const header: SecretRule = {
	triggers: ["authorization", "bearer "],
	find(text, at, hidden) {
		if (!standsApart(text, at, ALNUM, hidden)) return undefined;
		SCHEMES.lastIndex = at;
		const before = SCHEMES.exec(text)?.[0];
		if (before === undefined) return undefined;
		const from = SCHEMES.lastIndex;
		const to = runEnd(text, from, WORD | DOT | BASE64);
		const value = text.slice(from, Math.min(to, from + LOOKED_AT));
		if (!isPlaceholder(value) && (/\d/.test(value) ? value.length >= 8 : value.length >= 24 && /[ \t]["']?$/.test(before))) return { hide: [from, to] };
		return to === text.length && to > from && to - at < LONGEST_VALUE && /[ \t]$/.test(before) ? { open: at } : { skip: to };
	},
};

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const BODY = /(?:[^-]|-(?!----)){0,16384}/y;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY/y;
const KEY_LINE = /^[\s"'|>]*[A-Za-z0-9+/=\\]{4,}["',\s]*$/; // a backslash: of a line end that is written as \n

/** A private key from its first line to its last, as far as there is one. */
const pem: SecretRule = {
	triggers: ["-----BEGIN ", "-----END "],
	find(text, at) {
		END.lastIndex = at;
		if (END.test(text)) return cutBefore(text, at);
		BEGIN.lastIndex = at;
		if (!BEGIN.test(text)) return undefined;
		const from = BEGIN.lastIndex;
		BODY.lastIndex = from;
		BODY.test(text);
		END.lastIndex = BODY.lastIndex;
		if (!END.test(text)) return cutBehind(text, from);
		return /[A-Za-z0-9+/]{16}/.test(text.slice(from, BODY.lastIndex)) ? { hide: [from, BODY.lastIndex] } : undefined; // else it is only talked about
	},
};

/** A key without its end: the lines that look like those of a key. */
function cutBehind(text: string, from: number): Finding {
	let to = from;
	while (to < text.length && to - from < LONGEST_KEY) {
		const end = lineEnd(text, to);
		const line = text.slice(to, end);
		if (line.trim() !== "" && !KEY_LINE.test(line) && !/^(?:Proc-Type|DEK-Info|Comment|Version): /.test(line)) break;
		to = end;
	}
	return to > from + 1 ? { hide: [from, to] } : undefined;
}

/** Behind the line that starts there; of a very long one, behind enough of it. */
function lineEnd(text: string, from: number): number {
	const most = Math.min(text.length, from + LONGEST_KEY);
	let end = from;
	while (end < most && text.charCodeAt(end) !== 10) end++;
	return Math.min(end + 1, text.length);
}

/** A key without its beginning. */
function cutBefore(text: string, at: number): Finding {
	let from = at;
	for (let end = at; end > 0 && at - end < LONGEST_KEY; ) {
		let start = end - 1; // a line feed, but for the first
		while (start > 0 && text.charCodeAt(start - 1) !== 10 && at - start < LONGEST_KEY) start--;
		const line = text.slice(start, end);
		if (line.trim() !== "" && !KEY_LINE.test(line)) break;
		if (line.trim() !== "") from = start;
		end = start;
	}
	return from < at ? { hide: [from, at] } : undefined;
}

const ASSIGNED = /(?:["']?[ \t]{0,8}(?:=>|:=|[=:])[ \t]{0,8})(["'`]?)/y;
/** Patterns of a value, by the quote before it. `some`: enough to decide whether it is a secret; `all`: the whole of one. */
const VALUES: Readonly<Record<string, { readonly some: RegExp; readonly all: RegExp }>> = {
	'"': { some: /[^"\r\n]{0,128}/y, all: /[^"\r\n]*/y },
	"'": { some: /[^'\r\n]{0,128}/y, all: /[^'\r\n]*/y },
	"`": { some: /[^`\r\n]{0,128}/y, all: /[^`\r\n]*/y },
	"": { some: /[^\s"'`;&|,)}\]]{0,128}/y, all: /[^\s"'`;&|,)}\]]*/y },
};

/** `NAME=value`, `"name": "value"`, `name: value`, `--name value`, where the name says that it is a secret. */
const named: SecretRule = {
	triggers: ["key", "tok", "sec", "pas", "pwd", "cre", "aut", "jwt", "_pat", "cookie"],
	find(text, at) {
		let start = at;
		while (at - start < LONGEST_NAME && isOf(text, start - 1, WORD | DOT)) start--;
		start = behindEscape(text, start);
		if (start > at) return undefined; // of the escape
		const end = runEnd(text, at, WORD, at + LONGEST_NAME);
		const name = text.slice(start, end).replace(/^.*\.|^-+/, ""); // of a property, the last part
		const strength = secretName(name);
		const value = strength && valueAt(text, end, text.startsWith("--", start));
		if (!value) return { skip: end };
		const { from, to, tight, word } = value;
		// A variable as a shell and printenv write it is a secret, whatever it looks like.
		const variable = strength === "strong" && tight && /^[A-Z][A-Z0-9_]*$/.test(name) && word.length >= 4 && !/[(){}<>[\]]/.test(word);
		if (!isPlaceholder(word) && (variable || looksRandom(word))) return { hide: [from, to()] };
		return from + word.length === text.length && word.length > 0 && word.length < 64 ? { open: start } : { skip: end };
	},
};

/** Returns where a name begins whose first characters may be the last ones of an escape: `\nDB_PASSWORD`, `[32mDB_PASSWORD`. */
function behindEscape(text: string, start: number): number {
	const before = text[start - 1];
	if (before !== "\\" && before !== "%" && before !== "[" && before !== ";" && !(before === "=" && text.startsWith("3D", start))) return start;
	for (let end = start + 5; end > start; end--) if (endsInEscape(text, end)) return end;
	return start;
}

interface Value {
	readonly from: number;
	/** The value; of a long one the beginning. */
	readonly word: string;
	to(): number;
	/** Only a = is between the name and the value. */
	readonly tight: boolean;
}

/** Returns the value that is assigned to the name that ends there. */
function valueAt(text: string, end: number, flag: boolean): Value | undefined {
	ASSIGNED.lastIndex = end;
	const assigned = ASSIGNED.exec(text);
	if (!assigned && !(flag && text[end] === " ")) return undefined;
	const quote = assigned ? (assigned[1] ?? "") : (/["']/.exec(text[end + 1] ?? "")?.[0] ?? "");
	const from = assigned ? ASSIGNED.lastIndex : end + 1 + quote.length;
	const { some, all } = VALUES[quote] as (typeof VALUES)[string];
	const reach = (value: RegExp) => {
		value.lastIndex = from;
		value.test(text);
		return value.lastIndex;
	};
	return { from, word: text.slice(from, reach(some)), to: () => reach(all), tight: assigned !== null && text[end] === "=" && !/[ \t]/.test(assigned[0]) };
}

/** The longer a beginning, the more it says: those first. */
export const RULES: readonly SecretRule[] = [
	...[...FORMATS].sort((a, b) => b.prefix.length - a.prefix.length).map(keyFormat),
	pem,
	jwt,
	telegram,
	discord,
	webhook,
	url,
	header,
	named,
];
