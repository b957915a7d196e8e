/** A task with a real Chromium, for one test. */
import fs from "node:fs";
import path from "node:path";
import type { DefinedToolResult, Runtime, ToolCallOptions } from "holdfast";
import { testRuntime } from "holdfast/testing";
import { type BrowserTools, browserTools, type Settings } from "../../src/index.js";

/** Why there can be no test in a browser; undefined when there can. */
export const missing = fs.existsSync("/usr/bin/chromium") ? undefined : "there is no /usr/bin/chromium (Debian package chromium)";

export interface Driven extends AsyncDisposable {
	readonly runtime: Runtime;
	readonly dir: string;
	tools: BrowserTools;
	call(tool: string, args?: unknown, options?: ToolCallOptions): Promise<DefinedToolResult>;
	/** The ref of the first line of a result that has this in it. */
	ref(result: { output: string }, what: string): string;
}

/** What stands outside of the marks for text of others. */
export const outside = (text: string): string => text.replace(/\[Untrusted content of [^\n]*"end (\w+)"[^\n]*\n[\s\S]*?\n\[end \1\]/g, "…");

export async function driven(settings: Settings = {}, task = "t", place?: "local+sandbox"): Promise<Driven> {
	const dir = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? "", "site-"));
	const runtime = await testRuntime({ task, ...(place === undefined ? {} : { place, sandbox: { directory: dir } }) });
	const handle = runtime.task(task, place === undefined ? { cwd: dir } : {});
	const seat: Driven = {
		runtime,
		dir,
		tools: browserTools(runtime, { settings }),
		async call(tool, args = {}, options = {}) {
			const found = seat.tools.tools.find(({ name }) => name === tool);
			if (!found) throw new Error(`no tool ${tool}`);
			return handle.call(found, args, options);
		},
		ref({ output }, what) {
			const line = output.split("\n").find((one) => one.includes(what) && one.includes("[ref="));
			const [, found] = /\[ref=(\w+)\]/.exec(line ?? "") ?? [];
			if (found === undefined) throw new Error(`no ref for ${what} in:\n${output}`);
			return found;
		},
		async [Symbol.asyncDispose]() {
			await seat.tools.close();
			await handle.end();
			await runtime.close();
			fs.rmSync(dir, { recursive: true, force: true });
		},
	};
	return seat;
}
