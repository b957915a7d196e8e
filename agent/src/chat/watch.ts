/** Shows what happens in a conversation, and asks the person what it wants to know. */
import type { Runtime } from "holdfast";
import type { Conversation, TurnEvent } from "../turn/index.js";
import type { ChatTerminal } from "./line/terminal.js";
import { askApprovals, askForModel } from "./question.js";
import type { View } from "./view/view.js";

export type TurnEnded = Extract<TurnEvent, { type: "end" }>;

export interface Watched {
	readonly runtime: Runtime;
	readonly conversation: Conversation;
	readonly terminal: ChatTerminal;
	readonly view: View;
	/** Told of every turn that ends. */
	readonly ended: (end: TurnEnded) => void;
}

/** Until `signal` aborts, or the conversation is closed. */
export function watch(watched: Watched, signal: AbortSignal): void {
	const { runtime, conversation, terminal, view } = watched;
	const failed = (error: unknown) => {
		if (!signal.aborted) view.say(error instanceof Error ? error.message : String(error), "red");
	};
	follow(watched, signal).catch(failed);
	if (terminal.person) askApprovals(runtime, conversation, terminal, (text) => view.say(text, "dim"), signal).catch(failed);
}

async function follow({ conversation, terminal, view, ended }: Watched, signal: AbortSignal): Promise<void> {
	const open = new Map<string, AbortController>();
	for await (const event of conversation.events) {
		if (signal.aborted) return;
		view.show(event);
		if (event.type === "entry" && event.entry.t === "user")
			view.waiting(waitingTexts(conversation)); // also if another program has heard it
		else if (event.type === "end") ended(event);
		else if (event.type === "answered") open.get(event.id)?.abort();
		else if (event.type === "question") {
			const over = new AbortController();
			open.set(event.id, over);
			askForModel(conversation, event, terminal, AbortSignal.any([signal, over.signal])).catch((error: unknown) => view.say(String(error), "dim"));
		}
	}
}

const waitingTexts = (conversation: Conversation): string[] => conversation.waiting().flatMap((item) => (item.kind === "user" ? [item.text] : []));
