/** A real Chromium, the real `holdfast serve`, and what a test wants to know of the terminal in the page. */
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { CLI } from "../support/cli.js";
import { atEnd, until } from "../support/home.js";

const CHROMIUM = "/usr/bin/chromium";
/** Why there can be no test in a browser; undefined when there can. */
export const missing = fs.existsSync(CHROMIUM) ? undefined : "there is no /usr/bin/chromium (Debian package chromium)";

/** A name that the browser takes for this machine, as after DNS rebinding. */
export const REBOUND = "rebound.test";

const PATIENCE_MS = 100_000;
const ARGS = [
	`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
	"--no-sandbox",
	"--disable-dev-shm-usage",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];

/** For all tests of a file: not one of those processes that each test must not leave. */
export function launch(): Promise<Browser> {
	const { TEST_ROOT: _, ...env } = process.env;
	return chromium.launch({ executablePath: CHROMIUM, args: ARGS, env: env as Record<string, string> });
}

export interface Server {
	readonly link: string;
	readonly origin: string;
	readonly port: number;
	readonly child: ChildProcess;
	/** kill -9, and wait until it is gone. */
	kill(): Promise<void>;
}

/** `holdfast serve` on a home. */
export async function serve(home: string, port = 0): Promise<Server> {
	const child = spawn(process.execPath, [CLI, "serve", "--port", String(port)], {
		env: { ...process.env, HOLDFAST_HOME: home },
		stdio: ["ignore", "pipe", "pipe"],
	});
	let said = "";
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding("utf8").on("data", (text: string) => {
			said += text;
		});
	const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
	const kill = async () => {
		child.kill("SIGKILL");
		await ended;
	};
	atEnd(kill);
	await until("the server prints its link", () => /#token=\S+/.test(said) || child.exitCode !== null);
	const link = /http:\/\/\S+#token=\S+/.exec(said)?.[0];
	if (!link) throw new Error(`holdfast serve said:\n${said}`);
	const { origin, port: used } = new URL(link);
	return { link, origin, port: Number(used), child, kill };
}

export interface Visit {
	readonly page: Page;
	readonly context: BrowserContext;
	/** What the page complained about: errors, refused by the policy, and the like. */
	readonly complaints: string[];
}

/** A browser of its own: nothing is shared with another visit. */
export async function visit(browser: Browser, url: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visit> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
	atEnd(() => context.close());
	context.setDefaultTimeout(PATIENCE_MS);
	const page = await context.newPage();
	const complaints: string[] = [];
	page.on("pageerror", (error) => complaints.push(`${error}`));
	page.on("console", (message) => {
		if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION|WebSocket connection/.test(message.text())) complaints.push(message.text());
	});
	await page.goto(url);
	return { page, context, complaints };
}

/** Every line that the terminal in the page holds, without blanks at the ends. */
export async function lines(page: Page): Promise<string[]> {
	return (await page.evaluate(LINES)) as string[];
}
const LINES = `(() => {
	const terminal = window.holdfast?.shown?.terminal ?? window.holdfast?.terminal;
	if (!terminal) return [];
	const { active } = terminal.buffer;
	const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at).translateToString(true).trimEnd());
	while (lines.at(-1) === "") lines.pop();
	return lines;
})()`;

/** Wait until the terminal shows it. */
export async function shows(page: Page, text: string | RegExp): Promise<string[]> {
	const holds = (found: string[]) => (typeof text === "string" ? found.join("\n").includes(text) : text.test(found.join("\n")));
	const deadline = Date.now() + PATIENCE_MS;
	for (;;) {
		const found = await lines(page);
		if (holds(found)) return found;
		if (Date.now() > deadline) throw new Error(`the terminal never showed ${text}:\n${found.join("\n")}`);
		await page.evaluate(FRAME);
	}
}

/** Wait until an expression holds in the page. (Playwright's own way needs `eval`, which the page's policy forbids.) */
export async function becomes(page: Page, expression: string): Promise<void> {
	const deadline = Date.now() + PATIENCE_MS;
	while (!(await page.evaluate(expression))) {
		if (Date.now() > deadline) throw new Error(`never held in the page: ${expression}`);
		await page.evaluate(FRAME);
	}
}
const FRAME = "new Promise((resolve) => setTimeout(resolve, 15))";

/** The size that the program's terminal has, rows first, as `stty size` prints it. */
export const sizeIn = async (page: Page): Promise<string> =>
	(await page.evaluate("`${holdfast.live.size.value?.rows} ${holdfast.live.size.value?.cols}`")) as string;

/** Open a process and take its keyboard. */
export async function takeOver(page: Page, id: string): Promise<void> {
	await page.evaluate(`location.hash = "#/p/${id}"`);
	await page.getByRole("button", { name: /^Take (the keyboard|it over)$/ }).click();
	await page.getByText("You have the keyboard.").waitFor();
	await page.locator(".xterm-helper-textarea").first().focus();
}

/** What axe-core finds that keeps people out. */
export async function barriers(page: Page): Promise<string[]> {
	await page.evaluate(axe.source);
	const found = (await page.evaluate(`axe.run(document, { resultTypes: ["violations"] })`)) as axe.AxeResults;
	return found.violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join(" | ")}`);
}

export const WIDE = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
