/** The state of a chat: `gateway/chats/KEY.json`. All but the conversation and the chat itself can be found out again, so it is not synced each time. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { type AgentHome, conversationFile, fileKey, inboxFile, namesIn, readIfThere, writeWhole } from "../base/index.js";
import { chatFile, type GatewayPaths } from "./paths.js";

const stateSchema = z.object({
	key: z.string(),
	platform: z.string(),
	chat: z.object({ id: z.string(), kind: z.enum(["direct", "group"]), thread: z.string().optional(), name: z.string().optional() }),
	/** The person who wrote last. */
	person: z.object({ id: z.string(), name: z.string().optional() }).optional(),
	/** The current one. */
	conversation: z.string().optional(),
	/** The conversation's task, if it is not the chat's own: it was begun at another door. */
	task: z.string().optional(),
	/** Its lines up to here were given to the outbox. */
	told: z.number().default(0),
	/** When something was last said or answered, in ms. */
	active: z.number(),
	/** The last message that was stored: a platform with a history goes on behind it. */
	last: z.object({ message: z.string(), at: z.number() }).optional(),
	/** In place of the configuration's. */
	news: z.enum(["all", "result", "error", "off"]).optional(),
	/** The platform's id of the progress message of a turn under way. */
	progress: z.string().optional(),
	/** How long the files were when nothing was left to do: as long as they are that long, nothing is. */
	clean: z.object({ log: z.number(), inbox: z.number(), own: z.number() }).optional(),
});
export type ChatState = z.infer<typeof stateSchema>;

export function readChatStates({ chats }: GatewayPaths): ChatState[] {
	return namesIn(chats)
		.filter((name) => name.endsWith(".json"))
		.flatMap((name) => {
			try {
				const parsed = stateSchema.safeParse(JSON.parse(readIfThere(path.join(chats, name))?.toString("utf8") ?? "null"));
				return parsed.success ? [parsed.data] : [];
			} catch {
				return []; // made anew with the next message; its conversation is found by `/resume`
			}
		});
}

export function writeChatState(paths: GatewayPaths, state: ChatState, options: { readonly sync?: boolean } = {}): void {
	writeWhole(chatFile(paths, state.key), JSON.stringify(state), options);
}

/** The lengths of the files that say whether something is left to do. */
export function chatSizes(home: AgentHome, { key, conversation }: ChatState): NonNullable<ChatState["clean"]> {
	const size = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
	return {
		log: conversation === undefined ? 0 : size(conversationFile(home, conversation)),
		inbox: conversation === undefined ? 0 : size(inboxFile(home, conversation)),
		own: size(inboxFile(home, fileKey(key))),
	};
}

export function isClean(home: AgentHome, state: ChatState): boolean {
	const now = chatSizes(home, state);
	const { clean } = state;
	return clean !== undefined && clean.log === now.log && clean.inbox === now.inbox && clean.own === now.own;
}
