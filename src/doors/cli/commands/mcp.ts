import { Console } from "node:console";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../../base/index.js";
import { type CliCall, type CommandBody, EXIT, noWords, numberOption } from "../command.js";
import { chosen } from "../open.js";

const PORT = 4653; // HOLD on a telephone
/** After a signal: Claude Code takes its call back 24 ms after it has sent SIGINT. */
const LAST_WORDS_MS = 200;
/** Time limit until the commands of cancelled calls are killed. */
const SETTLED_MS = 5_000;
const UNREAD_MS = 2_000; // for a client that goes to read the last answers

export const mcp: CommandBody = {
	name: "mcp",
	usage: "[--task NAME] [--toolsets A,B] [--http [--host ADDRESS] [--port NUMBER] [--token-file FILE]]",
	options: {
		task: { type: "string", value: "NAME", help: "the task of all its clients (default: one for each client and directory, there again next time)" },
		toolsets: { type: "string", value: "A,B", help: "more tools: web, browser (of the package holdfast-browser)" },
		http: { type: "boolean", help: "serve /mcp over HTTP instead of stdin and stdout" },
		host: { type: "string", value: "ADDRESS", help: "listen here (default 127.0.0.1); any but loopback needs --token-file" },
		port: { type: "string", value: "NUMBER", help: `listen on this port (default ${PORT}); 0: any that is free` },
		"token-file": { type: "string", value: "FILE", help: "the token that opens the door (default: `token` in the home, made if need be)" },
	},
	teach: `
Any MCP client gets \`terminal\`, \`process\` and the tools for files. Each client has a task of its own in each directory, with its own shell, and comes
back to it when it is started there again; with --task it shares one with others. When the client goes, what runs goes on.

With --toolsets web,browser it has tools to search and read the web and to drive a browser too, where holdfast-browser is installed.

Over HTTP anyone with the token can run commands as you; the file is for your eyes only. http://…/mcp?task=NAME names a task.

Examples
  holdfast mcp --task website
  holdfast mcp --http --port 5000
  claude mcp add holdfast -- holdfast mcp`,
	async run(call) {
		noWords(call);
		const http = call.values.http === true;
		for (const name of ["host", "port", "token-file"])
			if (!http && call.values[name] !== undefined) throw new HoldfastError("INVALID", `--${name} goes with --http`);
		await (http ? overHttp(call) : overStdio(call));
		return EXIT.ok;
	},
};

async function overStdio(call: CliCall): Promise<void> {
	globalThis.console = new Console(process.stderr); // stdout is the protocol's, whatever a library may want to say
	const { serveStdio } = await import("../../mcp/index.js");
	await using runtime = await openRuntime(call);
	const more = await moreTools(call, runtime.home.root);
	const named = typeof call.values.task === "string" ? call.values.task : undefined;
	for (const name of SIGNALS) process.on(name, ignore);
	const stop = stopped(); // installed now: after the next line a person may press Ctrl-C at once
	if (process.stdin.isTTY) call.out.note("waiting for an MCP client; clients start this themselves (`holdfast setup`). Ctrl-C stops it");
	const door = serveStdio(runtime, {
		...(named === undefined ? {} : { task: named }),
		...(more.tools ? { tools: more.tools } : {}),
		onError: (error) => report(call, error),
	});
	await Promise.race([door.closed, stop]);
	if (door.busy) await Promise.race([door.closed, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
	await Promise.race([door.settled(), sleep(SETTLED_MS, undefined, { ref: false })]);
	for (const name of SIGNALS) process.off(name, ignore);
	leaveIf(door.busy);
	await door.close();
	await more.close();
	setTimeout(() => process.exit(EXIT.ok), UNREAD_MS).unref(); // what it has not read would keep us for ever
}

async function overHttp(call: CliCall): Promise<void> {
	const host = typeof call.values.host === "string" ? call.values.host : "127.0.0.1";
	const file = call.values["token-file"];
	const [{ httpDoor }, { ensureToken, isLoopback, readToken, serveHttp }] = await Promise.all([import("../../mcp/index.js"), import("../../http/index.js")]);
	if (!isLoopback(host) && file === undefined)
		throw new HoldfastError(
			"INVALID",
			`${host} can be reached by others, and the token would go there in the clear; if you want that, choose one with --token-file`,
		);
	const port = numberOption(call, "port", { min: 0, max: 65_535 }) ?? PORT;
	await using runtime = await openRuntime(call);
	const tokenFile = typeof file === "string" ? path.resolve(file) : path.join(runtime.home.root, "token");
	const token = typeof file === "string" ? readToken(tokenFile) : ensureToken(tokenFile);
	const { task } = call.values;
	const more = await moreTools(call, runtime.home.root);
	const door = httpDoor(runtime, {
		onError: (error) => report(call, error),
		...(typeof task === "string" ? { task } : {}),
		...(more.tools ? { tools: more.tools } : {}),
	});
	await using server = await serveHttp({ host, port, token, routes: { "/mcp": (request) => door.fetch(request) } });
	const url = `${server.origin}/mcp`;
	if (call.out.json) call.out.data({ url, token_file: tokenFile });
	else call.out.line(`${url}\nThe token is in ${tokenFile}: clients send it as \`Authorization: Bearer …\`. Ctrl-C stops the server; what runs goes on.`);
	await stopped();
	leaveIf(door.busy);
	await door.close();
	await more.close();
}

/** The tools of `--toolsets`, from a package that may be installed beside this one. */
async function moreTools(call: CliCall, home: string) {
	const { toolsets, place } = call.values;
	const names = typeof toolsets === "string" ? [...new Set(toolsets.split(",").map((name) => name.trim()))].filter((name) => name !== "") : [];
	const { loadToolsets } = await import("../toolsets.js");
	const loaded = await loadToolsets(names, { home, ...(typeof place === "string" ? { place } : {}) });
	for (const note of loaded.notes) call.out.note(note);
	return loaded;
}

const report = (call: CliCall, error: Error): void => call.out.note(`holdfast mcp: ${error.message}`);

/** To close properly would be to wait for the calls under way. Their commands go on without us, as after any sudden death. */
function leaveIf(busy: boolean): void {
	if (busy) process.exit(EXIT.ok);
}

async function openRuntime(call: CliCall) {
	const { openAgentRuntime } = await import("../../../tools/index.js");
	return openAgentRuntime(chosen(call.values));
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const stopped = (): Promise<unknown> => Promise.race(SIGNALS.map((name) => new Promise((resolve) => process.once(name, resolve))));

/** Ignores a second signal: Ctrl-C comes from the terminal, 40 ms later from Claude Code, which cancels its call only then. */
const ignore = (): void => {};
