/** Messages of a channel or thread since a moment, page by page, newest first, with our metadata. */
import type { WebClient } from "@slack/web-api";
import type { ChatRef } from "./platform.js";
import { fromSlackError } from "./slack-errors.js";
import type { SlackMessage } from "./slack-incoming.js";

export interface HistoryMessage extends SlackMessage {
	readonly metadata?: { readonly event_payload?: { readonly id?: string } };
}

export async function* historyOf(web: WebClient, chat: ChatRef, oldest: string, signal: AbortSignal): AsyncGenerator<readonly HistoryMessage[]> {
	for (let cursor: string | undefined; !signal.aborted; ) {
		const wish = { channel: chat.id, oldest, limit: 100, include_all_metadata: true, ...(cursor ? { cursor } : {}) };
		try {
			const page = chat.thread ? await web.conversations.replies({ ...wish, ts: chat.thread }) : await web.conversations.history(wish);
			yield (page.messages ?? []) as HistoryMessage[];
			cursor = page.response_metadata?.next_cursor || undefined;
		} catch (error) {
			throw fromSlackError(error);
		}
		if (!cursor) return;
	}
}
