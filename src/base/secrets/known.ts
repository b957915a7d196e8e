/** Values that are known to be secret, in every form in which they may stand in a text. */
import fs from "node:fs";

const LEAST = 8;
const LEAST_ENCODED = 12;
const MOST = 16 * 1024;
const TRIVIAL = /^(?:[a-z-]{1,15}|\d{1,11}|[a-z]+:\/\/[^@]*)$/i;

/** Whether text with it can be told from text without: a word or a number would be found everywhere. `sure`: it is a password, not only called one. */
export function isDistinct(value: string, sure: boolean): boolean {
	if (value.length > MOST || value.length < (sure ? 6 : LEAST)) return false;
	if (TRIVIAL.test(value)) return sure && value.length >= LEAST && !/^\d+$/.test(value);
	return !(value.startsWith("/") && fs.existsSync(value));
}

/** As it is, and as JSON, a URL or base64 would write it. */
export function formsOf(value: string): string[] {
	const forms = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), Buffer.from(value).toString("latin1")]);
	if (value.length >= LEAST_ENCODED) for (const text of base64Of(value)) forms.add(text).add(text.replaceAll("+", "-").replaceAll("/", "_"));
	return [...forms];
}

/** In base64 a text looks different depending on what is before it; of each way, the part that does not depend on its neighbours. */
function base64Of(value: string): string[] {
	const bytes = Buffer.from(value);
	return [0, 1, 2].map((shift) => {
		const text = Buffer.concat([Buffer.alloc(shift), bytes])
			.toString("base64")
			.replace(/=+$/, "");
		const whole = (bytes.length + shift) % 3 === 0;
		return text.slice(Math.ceil((shift * 4) / 3), whole ? undefined : -1);
	});
}
