/** A real Chromium, a real `holdfast serve` with the agent installed beside it, and the scripted model. */
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import axe from "axe-core";
import { openRuntime } from "holdfast";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { type AgentHome, openAgentHome } from "../../src/base/index.js";
import { fails, type ModelServer, modelServer, type Script, type Step } from "../model-server/index.js";
import { atEnd, tempDir, until } from "../support/dirs.js";

const CHROMIUM = "/usr/bin/chromium";
/** Why there can be no test in a browser; undefined when there can. */
export const missing = fs.existsSync(CHROMIUM) ? undefined : "there is no /usr/bin/chromium (Debian package chromium)";
const PATIENCE_MS = 100_000;
const ARGS = [
	"--no-sandbox",
	"--disable-dev-shm-usage",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-sync",
];
const CLI = path.resolve("dist/bin/holdfast.js");

/** For all tests of a file: not one of those processes that each test must not leave. */
export function launch(): Promise<Browser> {
	const { TEST_ROOT: _, ...env } = process.env;
	return chromium.launch({ executablePath: CHROMIUM, args: ARGS, env: env as Record<string, string> });
}

export interface Site {
	readonly link: string;
	readonly origin: string;
	readonly token: string;
	readonly agentHome: AgentHome;
	readonly home: string;
	readonly model: ModelServer;
	/** kill -9, and starts it again at the same address. */
	again(): Promise<void>;
}

/** `holdfast serve` with a model that answers by the script, for one test. */
export async function site(script: Script): Promise<Site> {
	const made = await makeSite(script, tempDir("page"), process.env);
	atEnd(made.close);
	return made;
}

export interface SharedSite extends Site {
	/** What the model answers, step by step, in the conversation that begins with this message. */
	plays(first: string, ...steps: readonly (Step | string)[]): void;
	/** How often it was asked in it. */
	asked(first: string): number;
	close(): Promise<void>;
}

/** The same for all tests of a file, which tell their conversations apart by the first message. Like the browser it is none of what a test leaves behind. */
export async function sharedSite(): Promise<SharedSite> {
	const { TEST_ROOT: _, ...env } = process.env;
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-agent-page-"));
	const steps = new Map<string, (Step | string)[]>();
	const asked: string[] = [];
	const script = ({ body }: { body: Readonly<Record<string, unknown>> }): Step | string => {
		const first = (body.messages as { role: string; content: unknown }[]).find(({ role }) => role === "user")?.content;
		asked.push(String(first));
		return steps.get(String(first))?.shift() ?? fails(400, { message: `there is no answer to ${String(first).slice(0, 80)}` });
	};
	const made = await makeSite(script, dir, env);
	return {
		...made,
		plays: (first, ...some) => void steps.set(first, [...some]),
		asked: (first) => asked.filter((one) => one === first).length,
		close: async () => {
			await made.close();
			fs.rmSync(dir, { recursive: true, force: true });
		},
	};
}

async function makeSite(script: Script, dir: string, env: NodeJS.ProcessEnv): Promise<Site & { close(): Promise<void> }> {
	const model = await modelServer({ script });
	const agentHome = openAgentHome(path.join(dir, "agent"));
	const home = path.join(dir, "home");
	const settings = { endpoints: { test: { url: model.url } }, model: "scripted", toolsets: ["terminal", "file", "todo", "ask"] };
	fs.writeFileSync(agentHome.config, JSON.stringify(settings));
	const server = await serve({ cwd: dir, env: { ...env, HOLDFAST_HOME: home, HOLDFAST_AGENT_HOME: agentHome.root } });
	const token = fs.readFileSync(path.join(home, "token"), "utf8").trim();
	return {
		...{ link: server.link, origin: server.origin, token, agentHome, home, model },
		again: () => server.again(),
		close: async () => {
			await server.kill();
			await endAll(home);
			await model[Symbol.asyncDispose]();
		},
	};
}

interface Served {
	readonly link: string;
	readonly origin: string;
	kill(): Promise<void>;
	again(): Promise<void>;
}

async function serve({ cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Served> {
	let child: ChildProcess | undefined;
	let said = "";
	const start = async (port: string): Promise<string> => {
		said = "";
		const started = spawn(process.execPath, [CLI, "serve", "--port", port], { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
		child = started;
		for (const stream of [started.stdout, started.stderr])
			stream.setEncoding("utf8").on("data", (text: string) => {
				said += text;
			});
		await until("the server prints its link", () => /#token=\S+\n/.test(said) || started.exitCode !== null);
		const found = /http:\/\/\S+#token=\S+/.exec(said)?.[0];
		if (!found) throw new Error(`holdfast serve said:\n${said}`);
		return found;
	};
	const kill = async () => {
		const ending = child;
		if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
		const ended = new Promise((resolve) => ending.once("close", resolve));
		ending.kill("SIGKILL");
		await ended;
	};
	const link = await start("0");
	const { origin, port } = new URL(link);
	const again = async () => {
		await kill();
		await start(port);
	};
	return { link, origin, kill, again };
}

/** Ends all that conversations have started: leaving them ends nothing. */
async function endAll(home: string): Promise<void> {
	await using runtime = await openRuntime({ home, warm: 0 });
	const tasks = new Set(runtime.list({ task: null, shells: true }).map(({ spec }) => spec.task));
	for (const task of tasks) await runtime.endTask(task);
}

export interface Visit {
	readonly page: Page;
	readonly context: BrowserContext;
	/** What the page complained about: errors, refused by the policy, and the like. */
	readonly complaints: string[];
	/** Addresses outside of this machine's server that the page has asked for. */
	readonly strays: string[];
}

export const WIDE = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

/** A browser of its own, at the agent's part of the page. */
export async function visit(
	browser: Browser,
	{ link, origin }: Pick<Site, "link" | "origin">,
	options: Parameters<Browser["newContext"]>[0] = WIDE,
): Promise<Visit> {
	const context = await browser.newContext(options);
	atEnd(() => context.close());
	context.setDefaultTimeout(PATIENCE_MS);
	const page = await context.newPage();
	const complaints: string[] = [];
	const strays: string[] = [];
	page.on("pageerror", (error) => complaints.push(`${error}`));
	page.on("console", (message) => {
		if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION|WebSocket connection/.test(message.text())) complaints.push(message.text());
	});
	page.on("request", (request) => {
		if (!request.url().startsWith(origin)) strays.push(request.url());
	});
	await page.goto(link);
	await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Agent" }).click();
	return { page, context, complaints, strays };
}

/** Waits until an expression holds in the page. (Playwright's own way needs `eval`, which the page's policy forbids.) */
export async function becomes(page: Page, expression: string): Promise<void> {
	const deadline = Date.now() + PATIENCE_MS;
	while (!(await page.evaluate(expression))) {
		if (Date.now() > deadline) throw new Error(`never held in the page: ${expression}`);
		await page.evaluate("new Promise((resolve) => setTimeout(resolve, 15))");
	}
}

/** What axe-core finds that keeps people out. */
export async function barriers(page: Page): Promise<string[]> {
	await page.evaluate(axe.source);
	const found = (await page.evaluate(`axe.run(document, { resultTypes: ["violations"] })`)) as axe.AxeResults;
	return found.violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join(" | ")}`);
}
