/** Rows of messages: as OpenAI's API has them, with the same keys in every message, and as ShareGPT has them. No message is left out, those of tools neither. */
import type { Message } from "../model/index.js";
import { wholeHistory } from "../talk/index.js";
import { columnsOf } from "./columns.js";
import { type ExportedEpisode, functionOf } from "./episode.js";

export function openaiRow(episode: ExportedEpisode) {
	const system = episode.system === "" ? [] : [plain("system", episode.system)];
	return {
		...columnsOf(episode),
		messages: [...system, ...wholeHistory(episode.entries).map(openaiMessage)],
		tools: JSON.stringify(episode.tools.map(functionOf)),
	};
}

const plain = (role: string, content: string) => ({ role, content, reasoning_content: "", tool_calls: [] as unknown[], tool_call_id: "" });

/** Arguments stay the text that the model wrote, valid or not. */
function openaiMessage(message: Message) {
	if (message.role === "user") return plain("user", message.text);
	if (message.role === "result") return { ...plain("tool", message.text), tool_call_id: message.call };
	const tool_calls = message.calls.map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: args } }));
	return { ...plain("assistant", message.text), reasoning_content: reasoningOf(message), tool_calls };
}

export interface ShareTurn {
	readonly from: "system" | "human" | "gpt" | "tool";
	readonly value: string;
}

export const sharegptRow = (episode: ExportedEpisode) => ({ ...columnsOf(episode), conversations: shareTurns(episode) });

/** All results of one answer are one turn of the tool, as their trainers expect it. */
export function shareTurns({ entries, system, tools }: ExportedEpisode): ShareTurn[] {
	const turns: ShareTurn[] = [];
	if (system !== "" || tools.length > 0) turns.push({ from: "system", value: `${system}\n<tools>\n${JSON.stringify(tools.map(functionOf))}\n</tools>` });
	const names = new Map<string, string>();
	for (const message of wholeHistory(entries)) {
		if (message.role === "user") turns.push({ from: "human", value: message.text });
		else if (message.role === "assistant") {
			for (const { id, name } of message.calls) names.set(id, name);
			turns.push({ from: "gpt", value: shareAnswer(message) });
		} else {
			const value = tagged("tool_response", { tool_call_id: message.call, name: names.get(message.call) ?? "", content: message.text });
			const last = turns.at(-1);
			if (last?.from === "tool") turns[turns.length - 1] = { from: "tool", value: `${last.value}\n${value}` };
			else turns.push({ from: "tool", value });
		}
	}
	return turns;
}

type AnswerMessage = Extract<Message, { role: "assistant" }>;

function shareAnswer(message: AnswerMessage): string {
	const thought = reasoningOf(message);
	const calls = message.calls.map(({ name, args }) => tagged("tool_call", { name, arguments: objectIn(args) ?? args }));
	return [`<think>\n${thought === "" ? "" : `${thought}\n`}</think>`, ...(message.text === "" ? [] : [message.text]), ...calls].join("\n");
}

const tagged = (tag: string, value: unknown): string => `<${tag}>\n${JSON.stringify(value)}\n</${tag}>`;

const reasoningOf = ({ reasoning }: AnswerMessage): string => reasoning.map(({ text }) => text).join("\n");

/** Arguments as an object, if they are one. */
export function objectIn(args: string): Readonly<Record<string, unknown>> | undefined {
	try {
		const value: unknown = JSON.parse(args);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}
