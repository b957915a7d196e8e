/** The browser tools, on the sessions of a program. */
import { type DefinedTool, defineTool, HoldfastError, type Runtime, type ToolAnswer } from "holdfast";
import * as z from "zod";
import { type Settings, WebError } from "../base/index.js";
import { holderOf } from "../chrome/index.js";
import { StaleRef, shown, wordsOf } from "./act.js";
import { type BrowserSession, Sessions } from "./session.js";
import type { Tab } from "./tab.js";
import { fileTools } from "./tools-files.js";
import { lookTools } from "./tools-look.js";
import { pageTools } from "./tools-page.js";

export interface BrowserTools {
	readonly tools: readonly DefinedTool[];
	/** Lets go of the browsers; they go on. */
	close(): Promise<void>;
}

const TIMEOUT = 60;

/** `images`: false where the answers reach a model as text alone. */
export function browserTools(runtime: Runtime, { settings = {}, images = true }: { settings?: Settings; images?: boolean } = {}): BrowserTools {
	const browser = settings.browser ?? {};
	const sessions = new Sessions(runtime, browser);
	const taken = (task: string): ToolAnswer | undefined => {
		const holder = holderOf(runtime, task);
		return holder === undefined ? undefined : { error: `${holder} has taken over the browser, so nothing was done; wait, or take a browser_snapshot` };
	};
	const made = [...pageTools, ...lookTools, ...fileTools].map(({ name, description, schema, changes, timeout, run }) =>
		defineTool({
			name,
			description,
			schema: images || !("show" in schema.shape) ? schema : schema.omit({ show: true }),
			timeout: timeout ?? TIMEOUT,
			...(changes === undefined ? {} : { changes }),
			async run(args, context) {
				const refused = () => (changes === false ? undefined : taken(context.task));
				const before = refused();
				if (before) return before;
				const session = await sessions.of(context.task, context.place, context.signal);
				return session.inTurn(context.signal, async () => {
					const meanwhile = refused(); // it has waited for its turn
					if (meanwhile) return meanwhile;
					const tab = await session.tab();
					if (!tab.dialog && !tab.crashed) await session.secrets.look(tab).catch(() => {}); // of a page that does not answer, nothing can be shown
					const answer = await answered(session, tab, () => run(args, { session, tab, context, policy: session.policy }));
					return typeof answer === "string" ? session.secrets.mask(answer) : masked(session, answer);
				});
			},
		}),
	);
	const close = defineTool({
		name: "browser_close",
		description: "Closes the browser of this task: its tabs, logins and profile are gone. A later call starts a new one.",
		schema: z.object({}),
		timeout: TIMEOUT,
		run: (_args, { task }) => taken(task) ?? sessions.end(task),
	});
	return { tools: [...made, close], close: () => sessions.close() };
}

const masked = ({ secrets }: BrowserSession, { output, error, ...rest }: ToolAnswer): ToolAnswer => ({
	...rest,
	...(output === undefined ? {} : { output: secrets.mask(output) }),
	...(error === undefined ? {} : { error: secrets.mask(error) }),
});

/** A stale ref is answered with what there is now. */
async function answered(session: BrowserSession, tab: Tab, run: () => Promise<string | ToolAnswer>): Promise<string | ToolAnswer> {
	try {
		return await run();
	} catch (error) {
		if (error instanceof StaleRef) return { error: `${error.message}. This is the page now`, output: await shown(session, tab) };
		if (
			error instanceof WebError ||
			error instanceof HoldfastError ||
			!/^(locator|page|frame|browserContext|elementHandle|Target|Timeout|download|dialog)/.test((error as Error).message ?? "")
		)
			throw error;
		return { error: wordsOf(error) };
	}
}
