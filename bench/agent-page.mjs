/** The agent's part of the page in a real Chromium: the first paint, and the end of a long conversation on the screen. */
import fs from "node:fs";
import { chromium } from "playwright-core";
import { byTurns, median } from "./lib.mjs";
import { CHROMIUM, serve } from "./page.mjs";
import { atMost, missingRow, row } from "./report.mjs";

/** `long` and `short` are conversations; their last answers are what `says` has. */
export async function firstPaints(bench, { env, core, conversations: { long, short } }) {
	if (!fs.existsSync(CHROMIUM)) return [missingRow("the agent's part of the page", `no ${CHROMIUM}`)];
	const server = await serve(bench, core, env);
	const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
	bench.atEnd(() => browser.close());
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	const first = await context.newPage();
	await first.goto(server.url);
	await first.getByRole("navigation", { name: "Terminals" }).waitFor();

	const painted = { terminals: [], long: [], short: [] };
	const visit = (name, hash, sign) => ({
		name,
		block: 1,
		time: async () => {
			const page = await context.newPage();
			await page.goto(`${server.origin}/${hash}`);
			await sign(page).waitFor();
			const [shown, paint] = await page.evaluate(`[performance.now(), performance.getEntriesByName("first-contentful-paint")[0].startTime]`);
			painted[name].push(paint);
			await page.close();
			return shown;
		},
	});
	const conversation = (name, { id, says }) => visit(name, `#/parts/agent/${id}`, (page) => page.locator(".ag-turns").getByText(says).last());
	const contestants = [
		visit("terminals", "#/", (page) => page.getByRole("navigation", { name: "Terminals" })),
		conversation("short", short),
		conversation("long", long),
	];
	await byTurns(1, contestants);
	for (const times of Object.values(painted)) times.length = 0;
	const shown = await byTurns(bench.count(8, 3), contestants);
	const ms = (what, value, baseline, more) => row({ what, value, unit: "ms", baselines: [baseline], ...more });
	return [
		ms(
			"the page's first paint, at a long conversation",
			median(painted.long),
			{ name: "at the terminals", value: median(painted.terminals) },
			{ target: atMost(1.5) },
		),
		ms("from there until its last answer is on the page", median(shown.long), { name: "of one turn", value: median(shown.short) }, { target: atMost(2) }),
	];
}
