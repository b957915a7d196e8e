/** What the page is compared with: see plain-server.mjs, which is a program of its own, as Holdfast's server is. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { install } from "./install.mjs";

const NODE_PTY = "node-pty@1.1.0";
const SERVER = fileURLToPath(new URL("plain-server.mjs", import.meta.url));

/** `{ page, flood }`: a page with `command` in it, and what opens another with `yes`. Or `{ missing }`. */
export async function plainPage(bench, browser, command, { cols, rows }) {
	const { dir, missing } = await install(bench, "node-pty-page", [NODE_PTY], { scripts: true });
	if (missing) return { missing };
	const child = fork(SERVER, [dir, command, String(cols), String(rows)], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
	const ended = new Promise((resolve) => child.once("exit", resolve));
	bench.atEnd(async () => {
		child.kill("SIGKILL");
		await ended;
	});
	const port = await Promise.race([new Promise((resolve) => child.stdout.once("data", (text) => resolve(String(text).trim()))), ended.then(() => undefined)]);
	if (port === undefined) return { missing: "node-pty cannot be loaded" };
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	const open = async (name) => {
		const page = await context.newPage();
		await page.goto(`http://127.0.0.1:${port}/${name}`);
		await page.waitForFunction("window.ready");
		return page;
	};
	const flood = async () => {
		const page = await open("yes");
		return () => page.close();
	};
	return { page: await open(""), flood };
}
