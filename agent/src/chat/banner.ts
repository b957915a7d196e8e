/** Five lines that say where one is: model, place, tools, what runs, and which conversation. `/status` shows the same. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { describeToolsets, type ToolsetState } from "../tools/index.js";
import type { Agent } from "./agent.js";
import { oneLine } from "./render/visible.js";

export interface BannerFacts {
	readonly version: string;
	readonly model: string;
	readonly host: string;
	readonly window: { readonly tokens: number; readonly from: string };
	readonly place: string;
	/** Unknown for a shell that was there before. */
	readonly directory: string | undefined;
	readonly session: string;
	readonly log: string;
	readonly toolsets: readonly ToolsetState[];
	readonly processes: readonly string[];
	/** Ids of approvals that wait. */
	readonly questions: readonly string[];
	readonly title: string | undefined;
	readonly messages: number;
}

const PROCESSES_SHOWN = 3;

export function bannerLines(facts: BannerFacts): string[] {
	const { tokens, from } = facts.window;
	const window = `window ${tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : tokens}${from === "default" ? " (assumed)" : ""}`;
	const messages = facts.messages === 1 ? "1 message" : `${facts.messages} messages`;
	const conversation = facts.messages > 0 ? `continues ${facts.title ? `"${oneLine(facts.title, 60)}" ` : ""}(${messages})` : "new conversation";
	return [
		`holdfast-agent ${facts.version} · ${facts.model} at ${facts.host} · ${window}`,
		[`place ${facts.place}`, ...(facts.directory ? [facts.directory] : []), `session ${facts.session} (${facts.log})`].join(" · "),
		describeToolsets(facts.toolsets),
		[runs(facts.processes), waits(facts.questions)].join(" · "),
		`${conversation} · /help · Esc interrupts, Ctrl-D leaves and ends nothing`,
	];
}

function runs(processes: readonly string[]): string {
	if (processes.length === 0) return "no process runs";
	const shown = processes.slice(0, PROCESSES_SHOWN).map((line) => oneLine(line, 60));
	const more = processes.length > shown.length ? [`${processes.length - shown.length} more`] : [];
	return `${processes.length === 1 ? "1 process runs" : `${processes.length} processes run`}: ${[...shown, ...more].join(", ")}`;
}

function waits(questions: readonly string[]): string {
	if (questions.length === 0) return "no question waits";
	const [first = ""] = questions;
	return `${questions.length === 1 ? "1 question waits" : `${questions.length} questions wait`}: /approve ${digitsOf(first)}`;
}

/** The digits that people type: appr_1962480693d5 is 1962. */
export const digitsOf = (id: string): string => id.replace(/^appr_/, "").slice(0, 4);

export function factsOf({ conversation, runtime, endpoint, settings, cwd }: Agent): BannerFacts {
	const { log, model, task } = conversation;
	return {
		version: version(),
		model: model.name,
		host: hostOf(endpoint.endpoint.url),
		window: model.window,
		place: conversation.place,
		directory: log.entries.length <= 1 && /^local\b/.test(conversation.place) ? cwd : undefined,
		session: conversation.id,
		log: path.join(path.relative(settings.home.root, settings.home.logs), `session_${conversation.id}.json`),
		toolsets: conversation.toolsets,
		processes: conversation.underWay.processes,
		questions: runtime.approvals.list({ task: task.name }).map(({ id }) => id),
		title: conversation.title,
		messages: log.entries.filter(({ t }) => t === "user" || t === "assistant" || t === "partial").length,
	};
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

function version(): string {
	const own = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
	return own.version;
}
