/** Commands about the conversation itself. */
import { AgentError } from "../../base/index.js";
import { findSession, listSessions, type SessionInfo } from "../../talk/index.js";
import { addUsage } from "../../turn/index.js";
import { bannerLines, factsOf } from "../banner.js";
import { usageText } from "../view/usage.js";
import type { CommandContext, SlashCommand } from "./command.js";

const LISTED = 10;

export const CONVERSATION: readonly SlashCommand[] = [
	{
		name: "new",
		usage: "",
		summary: "begin a new conversation; what runs goes on",
		group: "conversation",
		async run(context) {
			const { id, underWay } = context.agent.conversation;
			await context.open();
			const runs = underWay.processes.length;
			return `A new conversation. /resume ${id} goes back${runs === 0 ? "" : `; ${runs === 1 ? "one process of it goes on" : `${runs} processes of it go on`}`}.`;
		},
	},
	{
		name: "resume",
		usage: "ID|TITLE",
		summary: "go on with another conversation",
		group: "conversation",
		words: ({ agent }) => listSessions(agent.settings.home, { limit: LISTED }).map(({ id }) => id),
		async run(context, rest) {
			if (rest === "") return `${sessionList(context)}\n\n/resume ID goes on with one.`;
			const session = findSession(context.agent.settings.home, rest);
			if (session.broken !== undefined) throw new AgentError("BROKEN", session.broken);
			await context.open(session.id);
			return undefined;
		},
	},
	{ name: "sessions", usage: "", summary: "list conversations", group: "conversation", run: sessionList },
	{
		name: "title",
		usage: "TEXT",
		summary: "name this conversation",
		group: "conversation",
		async run({ agent: { conversation } }, rest) {
			if (rest === "") return conversation.title === undefined ? "It has no title; /title TEXT gives it one." : `"${conversation.title}"`;
			await conversation.setTitle(rest);
			return `It is "${conversation.title}" now; \`--resume "${conversation.title}"\` finds it.`;
		},
	},
	{
		name: "undo",
		usage: "",
		summary: "take the last message back; what was done stays done",
		group: "conversation",
		async run({ agent: { conversation } }) {
			const text = await conversation.undo();
			return text === undefined ? "There is no message to take back." : `Taken back: ${text}`;
		},
	},
	{
		name: "retry",
		usage: "",
		summary: "say the last message again, in place of what came of it",
		group: "conversation",
		async run({ agent: { conversation } }) {
			return (await conversation.retry()) ? undefined : "There is no message to say again.";
		},
	},
	{
		name: "compact",
		usage: "",
		summary: "make the conversation shorter now",
		group: "conversation",
		async run({ agent: { conversation } }) {
			const compacted = await conversation.compact();
			return compacted.did === "nothing" ? `The conversation was not made shorter: ${compacted.why}.` : undefined;
		},
	},
	{
		name: "status",
		usage: "",
		summary: "model, place, tools, what runs and waits, tokens",
		group: "conversation",
		run({ agent }) {
			const used = usageOf(agent);
			return [...bannerLines(factsOf(agent)), ...(used === undefined ? [] : [used])].join("\n");
		},
	},
];

function sessionList({ agent }: CommandContext): string {
	const sessions = listSessions(agent.settings.home, { limit: LISTED });
	if (sessions.length === 0) return "There is no other conversation yet.";
	return sessions.map((session) => `${session.id}${session.id === agent.conversation.id ? " (this one)" : ""}  ${nameOf(session)}`).join("\n");
}

const nameOf = ({ title, first, broken }: SessionInfo): string => (broken !== undefined ? "(damaged)" : title === undefined ? first : `"${title}"`);

function usageOf({ conversation }: CommandContext["agent"]): string | undefined {
	const all = conversation.log.entries.flatMap((entry) => (entry.t === "assistant" && entry.usage ? [entry.usage] : []));
	return all.length === 0 ? undefined : `so far: ${usageText(all.reduce(addUsage))}`;
}
