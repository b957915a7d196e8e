/** Commands in a chat: those of the table that the terminal has, as far as a person's role goes, and a few that only make sense here. */
import { AgentError } from "../base/index.js";
import { runSlash, SLASH_COMMANDS } from "../chat/index.js";
import { findSession, listSessions } from "../talk/index.js";
import type { Chat, ChatMessage } from "./chat.js";
import type { NewsMode } from "./deliver.js";
import type { Role } from "./people.js";
import type { PersonRef } from "./platforms/platform.js";
import type { Questions } from "./questions.js";

export interface CommandCall {
	readonly chat: Chat;
	readonly person: PersonRef;
	readonly item: ChatMessage;
	readonly questions: Questions;
	reply(text: string, more?: { readonly buttons?: { label: string; data: string }[] }): Promise<void>;
}

const NEWS: readonly NewsMode[] = ["all", "result", "error", "off"];
const LISTED = 10;
/** With something behind them they change what the agent may reach. */
const FOR_ADMINS = ["model", "place"];

/** `//x` is a message, and so is a path. */
export const isCommand = (text: string): boolean => /^\/[a-z]+(@\w+)?(\s|$)/i.test(text.trim());

export async function runCommand(call: CommandCall): Promise<void> {
	const { chat, person, item, questions, reply } = call;
	// Telegram writes /new@name_of_the_bot in groups.
	const text = item.text.trim().replace(/^(\/[a-z]+)@\w+/i, "$1");
	const [, name = "", rest = ""] = /^\/([a-z]+)\s*(.*)$/is.exec(text) ?? [];
	const needs = (role: Role): void => {
		if (!chat.hall.people.may(chat.link.name, person, role)) throw new AgentError("DENIED", `/${name} needs the role ${role}, which you do not have`);
	};
	switch (name.toLowerCase()) {
		case "start":
		case "help":
			return reply(helpText());
		case "approve":
			return reply(await questions.approve(chat, person, rest, item.at));
		case "deny":
			return reply(await questions.deny(chat, person, rest, item.at));
		case "new":
			return begin(call);
		case "news":
			return reply(setNews(chat, rest.trim().toLowerCase()));
		case "quit":
			return reply("This chat cannot be left from here.");
		case "sessions":
			return reply(sessionList(chat, chat.hall.people.may(chat.link.name, person, "admin")));
		case "link":
			needs("admin");
			break;
		default:
			if (FOR_ADMINS.includes(name.toLowerCase()) && rest.trim() !== "") needs("admin");
	}
	if (name.toLowerCase() === "resume" && rest.trim() === "")
		return reply(`${sessionList(chat, chat.hall.people.may(chat.link.name, person, "admin"))}\n\n/resume ID goes on with one.`);
	const agent = await chat.agent();
	const { model } = agent.conversation;
	const opened: { id?: string } = {};
	const ran = await runSlash(text, {
		agent,
		by: item.by,
		message: item.id,
		async open(id) {
			// Only those who may do everything get at conversations of other chats and of the terminal.
			if (id !== undefined && findSession(chat.hall.home, id).task !== chat.key) needs("admin");
			await chat.exchange(id);
			if (id !== undefined) opened.id = id;
		},
	});
	if (opened.id !== undefined) return reply(`Goes on with ${opened.id}${titleOf(agent.conversation.title)}.`);
	const changed = agent.conversation.model.name === model.name ? [] : [`The model is ${agent.conversation.model.name} now.`];
	if (changed.length > 0 || ran?.said !== undefined) return reply([...changed, ...(ran?.said === undefined ? [] : [ran.said])].join("\n"));
	if (name.toLowerCase() === "compact") return reply("The conversation was made shorter.");
}

async function begin({ chat, item, person, reply }: CommandCall): Promise<void> {
	const { runtime } = chat.hall;
	const { task } = chat;
	const running = runtime.list({ task, ended: false }).filter((process) => process.status().status === "running");
	const known = chat.state.conversation !== undefined && chat.conversation?.log.entries.length === 1; // done by a gateway that was killed then
	const before = known ? undefined : await chat.exchange(undefined, "/new");
	runtime.approvals.revoke(task, { by: `/new, ${person.id}` });
	const back = before === undefined ? "" : ` /resume ${before} goes back.`;
	if (running.length === 0) return reply(`A new conversation.${back}`);
	const list = running.map(({ id, spec }) => `${id} ${spec.name ?? spec.command.slice(0, 60)}`).join("\n");
	const buttons = chat.link.platform.traits.buttons ? [{ label: "End them", data: `p:${Date.now()}` }] : [];
	const how = buttons.length > 0 ? "" : "\nAsk me to end those that you do not need.";
	return reply(`A new conversation.${back} ${running.length === 1 ? "One process goes on" : `${running.length} processes go on`}:\n${list}${how}`, {
		buttons: item.by.person === "" ? [] : buttons,
	});
}

function setNews(chat: Chat, mode: string): string {
	const now = chat.state.news ?? chat.hall.settings.config.gateway.news;
	if (mode === "") return `News of background processes: ${now}. /news ${NEWS.join("|")} changes it.`;
	if (!NEWS.includes(mode as NewsMode)) throw new AgentError("INVALID", `"${mode}" is not known; give ${NEWS.join(", ")}`);
	chat.state.news = mode as NewsMode;
	chat.save();
	return `News of background processes: ${mode}.`;
}

/** Lists conversations: this chat's; for a person who may do everything, those of all doors. */
function sessionList(chat: Chat, all: boolean): string {
	const sessions = listSessions(chat.hall.home, { limit: LISTED, ...(all ? {} : { task: chat.key }) });
	if (sessions.length === 0) return "There is no conversation yet.";
	return sessions
		.map(({ id, title, first }) => `${id}${id === chat.state.conversation ? " (this one)" : ""}  ${title === undefined ? first : `"${title}"`}`)
		.join("\n");
}

const titleOf = (title: string | undefined): string => (title === undefined ? "" : `, "${title}"`);

function helpText(): string {
	const own = [{ name: "news", usage: NEWS.join("|"), summary: "which news of background processes are shown" }];
	const shown = [...SLASH_COMMANDS.filter(({ name }) => name !== "quit"), ...own];
	return ["Write what you want done. Commands:", ...shown.map(({ name, usage, summary }) => `/${`${name} ${usage}`.trim()}: ${summary}`)].join("\n");
}
