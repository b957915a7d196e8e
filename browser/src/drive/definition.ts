/** The parts of a browser tool. */
import type { ToolAnswer, ToolContext } from "holdfast";
import type * as z from "zod";
import type { BrowserPolicy } from "./policy.js";
import type { BrowserSession } from "./session.js";
import type { Tab } from "./tab.js";

/** The surroundings of a browser tool's call. */
export interface Seat {
	readonly session: BrowserSession;
	readonly tab: Tab;
	readonly context: ToolContext;
	readonly policy: BrowserPolicy;
}

export interface BrowserToolDefinition<S extends z.ZodObject = z.ZodObject> {
	readonly name: string;
	readonly description: string;
	readonly schema: S;
	readonly changes?: boolean;
	readonly timeout?: number;
	run(args: z.infer<S>, seat: Seat): Promise<string | ToolAnswer>;
}

export const tool = <S extends z.ZodObject>(definition: BrowserToolDefinition<S>): BrowserToolDefinition => definition as unknown as BrowserToolDefinition;
