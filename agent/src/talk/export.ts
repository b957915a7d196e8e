/** Writes conversations for other programs: `logs/session_ID.json` after every turn, and exports in three formats. Every text passes `redact`. */
import { type AgentHome, fromSystem, sessionLogFile, writeWhole } from "../base/index.js";
import type { Message, ModelCall, Usage } from "../model/index.js";
import type { Entry } from "./entry.js";
import { undoneLines, wholeHistory } from "./history.js";
import type { Log } from "./log.js";
import { describeEntries } from "./sessions.js";
import { toolErrors, toolStatistics } from "./tool-records.js";
import { fileText, noteText, noticeText } from "./words.js";

export type Redact = (text: string) => string;

export interface SessionLogOptions {
	readonly endpoint: string;
	readonly toolsets: readonly string[];
	readonly redact: Redact;
}

/** Writes `logs/session_ID.json` anew, whole or not at all, and returns its name. It is derived: without it nothing is lost. */
export function writeSessionLog(home: AgentHome, log: Log, { endpoint, toolsets, redact }: SessionLogOptions): string {
	const file = sessionLogFile(home, log.id);
	const { id, title, model, place, startedAt, updatedAt } = describeEntries(log.entries, log.file, log.openCalls.length);
	const conversations = turnsOf(log.entries);
	const content = {
		session_id: id,
		...(title === undefined ? {} : { title }),
		model,
		endpoint,
		place,
		started_at: startedAt,
		updated_at: updatedAt,
		message_count: conversations.length,
		toolsets,
		usage: usageOf(log.entries),
		tools: Object.fromEntries(toolStatistics(log.entries)),
		tool_errors: toolErrors(log.entries),
		conversations,
	};
	try {
		writeWhole(file, `${JSON.stringify(redacted(content, redact), null, "\t")}\n`);
	} catch (error) {
		throw fromSystem(error, `cannot write ${file}`);
	}
	return file;
}

export const EXPORT_FORMATS = ["openai", "anthropic", "sharegpt"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Returns a whole conversation, as it was before any summary and without turns that were taken back, as a value to be written as JSON. */
export function exportConversation(entries: readonly Entry[], format: ExportFormat, redact: Redact): unknown {
	const messages = wholeHistory(entries);
	const [begun] = entries;
	const id = begun?.t === "begun" ? begun.id : "";
	if (format === "sharegpt") return redacted({ id, conversations: turnsOf(entries) }, redact);
	return redacted({ id, messages: format === "openai" ? openaiMessages(messages) : anthropicMessages(messages) }, redact);
}

interface Turn {
	readonly from: "human" | "gpt" | "tool";
	readonly value: string;
	readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
	/** The call that this is a tool's result of. */
	readonly call?: string;
	readonly process?: string;
}

/** Returns the turns. Words of the program and the terminal for the model are the human's side, as the model was sent them. */
function turnsOf(entries: readonly Entry[]): Turn[] {
	const taken = undoneLines(entries);
	return entries.filter(({ n }) => !taken(n)).flatMap(turnOf);
}

function turnOf(entry: Entry): Turn[] {
	switch (entry.t) {
		case "user":
			return [{ from: "human", value: [entry.text, ...(entry.files ?? []).map(fileText)].join("\n\n") }];
		case "notice":
			return [{ from: "human", value: noticeText(entry.text) }];
		case "note":
			return [{ from: "human", value: noteText(entry.text) }];
		case "partial":
			return [{ from: "gpt", value: entry.text }];
		case "assistant":
			return [
				{
					from: "gpt",
					value: entry.text,
					...(entry.calls.length > 0 ? { calls: entry.calls.map(({ id, name, args }) => ({ id, name, arguments: args })) } : {}),
				},
			];
		case "result":
			return [{ from: "tool", value: entry.text, call: entry.call, ...(entry.process ? { process: entry.process } : {}) }];
		default:
			return [];
	}
}

function usageOf(entries: readonly Entry[]): Usage {
	const all = entries.flatMap((entry) => (entry.t === "assistant" && entry.usage ? [entry.usage] : []));
	const sum = (part: (usage: Usage) => number | undefined) => all.reduce((total, usage) => total + (part(usage) ?? 0), 0);
	const costs = all.some(({ cost }) => cost !== undefined);
	return {
		input: sum(({ input }) => input),
		output: sum(({ output }) => output),
		cached: sum(({ cached }) => cached),
		...(costs ? { cost: sum(({ cost }) => cost) } : {}),
	};
}

function openaiMessages(messages: readonly Message[]): unknown[] {
	return messages.map((message) => {
		if (message.role === "user") return { role: "user", content: message.text };
		if (message.role === "result") return { role: "tool", tool_call_id: message.call, content: message.text };
		const calls = message.calls.map(({ id, name, args }) => ({
			id,
			type: "function",
			function: { name, arguments: parsed(args) === undefined ? "{}" : args },
		}));
		return { role: "assistant", content: message.text || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
	});
}

interface AnthropicMessage {
	readonly role: "user" | "assistant";
	readonly content: unknown[];
}

/** Roles alternate: neighbours of one role are one message, in which results come first because they come first in the log. */
function anthropicMessages(messages: readonly Message[]): AnthropicMessage[] {
	const out: AnthropicMessage[] = [];
	for (const message of messages) {
		const role = message.role === "assistant" ? "assistant" : "user";
		const last = out.at(-1);
		if (last?.role === role) last.content.push(...blocksOf(message));
		else out.push({ role, content: blocksOf(message) });
	}
	return out;
}

function blocksOf(message: Message): unknown[] {
	if (message.role === "result")
		return [{ type: "tool_result", tool_use_id: message.call, content: message.text, ...(message.failed ? { is_error: true } : {}) }];
	const text = message.text.trim() === "" ? [] : [{ type: "text", text: message.text }];
	return message.role === "user" ? text : [...text, ...message.calls.map(toolUse)];
}

const toolUse = ({ id, name, args }: ModelCall): unknown => ({ type: "tool_use", id, name, input: parsed(args) ?? {} });

/** Arguments that are no JSON object were never run; they stand as none. */
function parsed(args: string): object | undefined {
	try {
		const value: unknown = JSON.parse(args);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Every text in it, the names of keys too. */
function redacted(value: unknown, redact: Redact): unknown {
	if (typeof value === "string") return redact(value);
	if (Array.isArray(value)) return value.map((inner) => redacted(inner, redact));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [redact(key), redacted(inner, redact)]));
}
