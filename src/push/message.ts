/** A message to a person, the same for every kind of target. An agent's text is cut, and control and invisible characters in it are made visible. */
import type { Approval } from "../approvals/index.js";
import { visible } from "../base/index.js";
import type { HoldfastEvent } from "../events/index.js";
import { maskedCommand, type Process } from "../process/index.js";

const TITLE_CHARS = 120;
const TEXT_CHARS = 1_500; // ntfy turns a message of more than 4,096 bytes into a file

/** Addresses that answer a question: one for each answer. Anyone who has one can answer, once. */
export interface AnswerLinks {
	readonly once: string;
	readonly no: string;
}

/** The message that a webhook gets as JSON, and a command on its stdin. */
export interface PushMessage {
	readonly v: 1;
	readonly kind: "question" | "waiting" | "end";
	readonly at: string;
	readonly task: string;
	/** The line of a notification. */
	readonly title: string;
	readonly text: string;
	/** The page, or the terminal on it: it asks for a login. */
	readonly url: string;
	readonly session_id?: string;
	readonly approval_id?: string;
	/** The time until which a question can be answered. */
	readonly expires_at?: string;
	readonly answer?: AnswerLinks;
	/** The exit code of an ended process. */
	readonly exit_code?: number | null;
	readonly status?: string;
}

export function aboutQuestion({ id, task, command, cwd, place, created_at, expires_at }: Approval, page: string, answer: AnswerLinks): PushMessage {
	return {
		v: 1,
		kind: "question",
		at: created_at,
		task,
		title: line(`${task} asks for approval`),
		text: block(`${command}\n\nin ${cwd} on ${place}`),
		url: `${page}/#/approvals`,
		approval_id: id,
		expires_at,
		answer,
	};
}

export function aboutWaiting(event: Extract<HoldfastEvent, { type: "process.waits" }>, process: Process, page: string): PushMessage {
	const what = event.waiting_for === "password" ? "a password" : "a line of input";
	return { ...ofProcess("waiting", event, process, page), title: line(`${event.task} waits for ${what}`) };
}

export function aboutEnd(event: Extract<HoldfastEvent, { type: "process.ended" }>, process: Process, page: string): PushMessage {
	const { status, exit_code, signal } = event;
	const how = status === "exited" ? `exited with ${exit_code}` : status === "killed" ? `was killed${signal ? ` (${signal})` : ""}` : `ended: ${status}`;
	return { ...ofProcess("end", event, process, page), title: line(`${event.task}: a process ${how}`), status, exit_code };
}

const ofProcess = (kind: "waiting" | "end", { at, task, session_id }: { at: string; task: string; session_id: string }, process: Process, page: string) =>
	({ v: 1, kind, at, task, text: block(maskedCommand(process)), url: `${page}/#/p/${session_id}`, session_id }) as const;

const line = (text: string): string => cut(visible(text.replaceAll(/\s+/g, " ")).trim(), TITLE_CHARS);
const block = (text: string): string => cut(visible(text), TEXT_CHARS);
const cut = (text: string, most: number): string => {
	const characters = [...text];
	return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
};
