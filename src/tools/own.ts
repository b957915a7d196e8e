/** Support for caller-defined tools: bounds for their results, and questions to a person. */
import { CONTEXT_BYTES, type Redactor, reveal } from "../base/secrets/index.js";
import type { Ask } from "./ask.js";
import { askPerson } from "./ask-person.js";
import { lastOf } from "./excerpt.js";
import type { OwnResult } from "./own-result.js";

const HEAD_SHARE = 0.4;
const MARKER_ROOM = 80;

/** Returns the beginning and the end of a text that is too long. Masks secrets at the cuts, since half a secret would not be recognized. */
export function shortened(secrets: Redactor, text: string, most: number): { text: string; truncated?: NonNullable<OwnResult["truncated"]> } {
	if (text.length <= most) return { text };
	const room = Math.max(0, most - MARKER_ROOM);
	const head = text.slice(0, Math.floor(room * HEAD_SHARE));
	const tail = lastOf(text, room - head.length);
	const from = text.length - tail.length;
	const shown = [
		secrets.hide(head, { after: text.slice(head.length, head.length + CONTEXT_BYTES) }),
		`\n[… ${from - head.length} of ${text.length} characters left out …]\n`,
		secrets.hide(tail, { before: text.slice(Math.max(0, from - CONTEXT_BYTES), from) }),
	];
	return { text: reveal(shown.join("")), truncated: { total_chars: text.length, omitted_chars: from - head.length } };
}

export interface OwnQuestion {
	readonly tool: string;
	readonly cwd: string;
	/** The action, in words. */
	readonly text: string;
	readonly reason: string;
}

/** Asks a person about an action that is not a command. Throws a refusal unless they agree. */
export async function approve(ask: Ask, { tool, cwd, text, reason }: OwnQuestion, signal: AbortSignal): Promise<void> {
	const rule = `tool ${tool}`;
	const part = { start: 0, end: Buffer.byteLength(text), text, rule, reason };
	await askPerson(ask, { command: text, cwd, parts: [part], choices: ["once", "no"], about: { rule, reason, part: null }, tool, signal });
}
