/** A slash command, for every door that people write in: the chat, and platforms of a gateway. It answers with text. */
import type { Origin } from "../../talk/index.js";
import type { Agent } from "../agent.js";

export interface CommandContext {
	readonly agent: Agent;
	/** The person who gave it. */
	readonly by: Origin;
	/** The id of the message that gave it, where a message may come twice: what it says is said once. */
	readonly message?: string;
	/** Exchanges the conversation: without an id for a new one. */
	open(id?: string): Promise<void>;
	/** Leaves; only a chat in a terminal can be left. */
	leave?(): void;
}

export interface SlashCommand {
	readonly name: string;
	/** Behind the name. */
	readonly usage: string;
	readonly summary: string;
	readonly group: "conversation" | "turn" | "model and tools" | "processes";
	/** Words that can follow, for completion. */
	words?(context: CommandContext): readonly string[];
	/** Returns what to show; undefined: nothing. Throws what is wrong, in words. */
	run(context: CommandContext, rest: string): Promise<string | undefined> | string | undefined;
}
