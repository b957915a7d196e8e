/** Tools that look at the page, wait for it, and change between tabs. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { anySignal, oneLine, untrusted } from "../base/index.js";
import { ready, shown } from "./act.js";
import { tool } from "./definition.js";
import { hiddenPage } from "./hidden.js";
import type { Tab } from "./tab.js";

const LOOK_MS = 150;

/** Waits until a text is seen in the page or one of its frames, or until it is in none of them. */
async function untilText(tab: Tab, text: string, { shown: wanted, signal }: { shown: boolean; signal: AbortSignal }): Promise<void> {
	for (;;) {
		const counts = await tab.askFrames((frame) => frame.getByText(text).filter({ visible: true }).count()).catch(() => [undefined]); // it is busy
		const seen = counts.some((count) => (count ?? 0) > 0);
		const none = counts.every((count) => count === 0); // a frame that navigates just now does not count as empty
		if (wanted ? seen : none) return;
		await sleep(LOOK_MS, undefined, { signal });
	}
}

export const lookTools = [
	tool({
		name: "browser_snapshot",
		description: "Shows the page as an accessibility tree with refs.",
		schema: z.object({
			ref: z.string().optional().describe("Only this element and what is in it."),
			offset: z.number().int().min(0).optional().describe("From which character on, where it was cut."),
			max_chars: z.number().int().min(500).max(16_000).optional().describe("Default 6000."),
		}),
		changes: false,
		run: ({ ref, offset, max_chars }, { session, tab }) =>
			shown(session, tab, {
				...(ref === undefined ? {} : { ref }),
				...(offset === undefined ? {} : { offset }),
				...(max_chars === undefined ? {} : { budget: max_chars }),
			}),
	}),
	tool({
		name: "browser_wait",
		description: "Waits until a text is there, a text is gone, the address has a text in it, or the network is idle. The first that holds ends it.",
		schema: z.object({
			text: z.string().min(1).optional(),
			gone: z.string().min(1).optional().describe("Until this text is not there any more."),
			url: z.string().min(1).optional().describe("Until the address contains this."),
			idle: z.boolean().optional().describe("Until no request has been made for half a second."),
			timeout: z.number().min(0.1).max(120).optional().describe("Seconds, default 20."),
		}),
		changes: false,
		timeout: 130,
		async run({ text, gone, url, idle, timeout = 20 }, { session, tab, context }) {
			ready(tab);
			if (text === undefined && gone === undefined && url === undefined && !idle) return { error: "say what to wait for: text, gone, url or idle" };
			const ms = timeout * 1000;
			const done = new AbortController();
			const signal = anySignal([context.signal, done.signal, AbortSignal.timeout(ms)]);
			const waits = [
				text !== undefined && untilText(tab, text, { shown: true, signal }).then(() => "the text is there"),
				gone !== undefined && untilText(tab, gone, { shown: false, signal }).then(() => "the text is gone"),
				url !== undefined && tab.page.waitForURL((at) => at.href.includes(url), { timeout: ms, waitUntil: "commit" }).then(() => "the address is there"),
				idle && tab.untilIdle(signal).then(() => "the network is idle"),
			].filter((one) => one !== false && one !== undefined);
			for (const one of waits) one.catch(() => {}); // the first that holds ends the others
			const late = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
			const stop = tab.interrupted().then(() => "something happened in the page");
			const held = await Promise.race([Promise.any(waits).catch(() => late), stop, late]).finally(() => done.abort());
			const state = await shown(session, await session.tab());
			return held === undefined ? { error: `it did not happen within ${timeout} s. This is the page now`, output: state } : `After waiting: ${held}.\n${state}`;
		},
	}),
	tool({
		name: "browser_tabs",
		description: "Lists the tabs; with select or close changes to a tab or closes it.",
		schema: z.object({ select: z.number().int().min(1).optional(), close: z.number().int().min(1).optional() }),
		async run({ select, close }, { session }) {
			const tabs = session.tabs();
			const wanted = select ?? close;
			const chosen = wanted === undefined ? undefined : tabs[wanted - 1];
			if (wanted !== undefined && !chosen) return { error: `there is no tab ${wanted}; there are ${tabs.length}` };
			if (chosen && close !== undefined) await chosen.page.close();
			else if (chosen) await session.select(chosen);
			const now = await session.tab();
			const lines = session
				.tabs()
				.map(
					(tab, at) =>
						`${tab === now ? "→" : " "} ${at + 1}. ${oneLine(tab.page.url(), 200)}${tab.crashed ? " (crashed)" : ""}${tab.dialog ? " (a dialog is open)" : ""}`,
				);
			return select === undefined ? lines.join("\n") : `${lines.join("\n")}\n${await shown(session, now)}`;
		},
	}),
	tool({
		name: "browser_console",
		description: "Shows what the page has written to its console, and its exceptions: the last 200.",
		schema: z.object({ errors: z.boolean().optional().describe("True: only errors, warnings and exceptions.") }),
		changes: false,
		async run({ errors }, { session, tab }) {
			const hidden = await hiddenPage(tab, session);
			if (hidden !== undefined) return { error: hidden };
			const lines = tab.console
				.filter(({ type }) => !errors || ["error", "warning", "exception"].includes(type))
				.map(({ type, text, at }) => `${at.slice(11, 23)} ${type}: ${oneLine(text, 500)}`);
			return lines.length === 0 ? "The console is empty." : untrusted(`the console of ${tab.page.url()}`, lines.join("\n").slice(-12_000));
		},
	}),
];
