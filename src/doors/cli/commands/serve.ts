import path from "node:path";
import { errno, HoldfastError } from "../../../base/errors.js";
import { counted } from "../../../base/quantity.js";
import type { HttpServer } from "../../http/index.js";
import { ownName } from "../../setup/server.js";
import { type Call, type CommandBody, EXIT, noWords, numberOption } from "../command.js";
import { chosen } from "../open.js";
import { recordServer, runningServer } from "../servers.js";

const PORT = 4653; // HOLD on a telephone
const TRIES = 20;

export const serve: CommandBody = {
	name: "serve",
	usage: "[--host ADDRESS] [--port NUMBER | --any-port] [--token-file FILE] [--link]",
	options: {
		host: { type: "string", value: "ADDRESS", help: "listen here (default 127.0.0.1); any but loopback needs --token-file" },
		port: { type: "string", value: "NUMBER", help: `listen on this port (default ${PORT}); 0: any that is free` },
		"any-port": { type: "boolean", help: "if the port is taken, take the next one that is free" },
		"token-file": { type: "string", value: "FILE", help: "the token that opens the door (default: `token` in the home, made if need be)" },
		link: { type: "boolean", help: "print a new link to the server that runs on this home, and leave" },
	},
	teach: `
Opens nothing by itself: follow the link it prints. The link works for 12 hours, and the browser that has used it stays
logged in for 30 days. Whoever has the link or the token may run commands as you. Ctrl-C stops the server; what runs goes on.

Examples
  holdfast serve
  holdfast serve --port 5000
  holdfast serve --link`,
	async run(call) {
		noWords(call);
		if (call.values.link) await link(call);
		else if (!(await alreadyServed(call))) await run(call);
		return EXIT.ok;
	},
};

async function run(call: Call): Promise<void> {
	const host = typeof call.values.host === "string" ? call.values.host : "127.0.0.1";
	const [{ httpDoor }, http, { openAgentRuntime }] = await Promise.all([
		import("../../mcp/index.js"),
		import("../../http/index.js"),
		import("../../../tools/index.js"),
	]);
	if (!http.isLoopback(host) && call.values["token-file"] === undefined)
		throw new HoldfastError(
			"INVALID",
			`${host} can be reached by others, and everything would go there in the clear; if you want that, choose a token with --token-file`,
		);
	const { task } = call.values;
	await using runtime = await openAgentRuntime(chosen(call.values));
	const { file, token } = tokenOf(call, runtime.home.root, http);
	const report = (error: Error) => call.out.note(`holdfast serve: ${error.message}`);
	const door = httpDoor(runtime, { onError: report, ...(typeof task === "string" ? { task } : {}) });
	const site = http.createSite({ runtime, token });
	const wanted = numberOption(call, "port", { min: 0, max: 65_535 }) ?? PORT;
	const open = (port: number) => http.serveHttp({ host, port, token, site, routes: { "/mcp": (request) => door.fetch(request) } });
	await using server = await firstFree(open, wanted, call.values["any-port"] === true);
	const stopped = untilStopped(); // from here on Ctrl-C is ours
	const forget = recordServer(runtime.home.root, { origin: server.origin, token_file: file });
	try {
		greet(call, server, http.linkKey(token), file, wanted);
		await stopped;
	} finally {
		forget();
		sayGoodbye(call, runtime.list({ task: null, ended: false }).length);
		if (door.busy) process.exit(EXIT.ok); // calls under way would hold us; their commands go on without us, as after any sudden death
		await door.close();
	}
}

function greet(call: Call, { origin }: HttpServer, key: string, file: string, wanted: number): void {
	const { out } = call;
	const url = `${origin}/#token=${key}`;
	if (out.json) {
		out.data({ url, mcp: `${origin}/mcp`, origin, token_file: file });
		return;
	}
	if (wanted !== 0 && !origin.endsWith(`:${wanted}`)) out.note(`port ${wanted} is taken; this server uses ${new URL(origin).port}`);
	const name = ownName();
	out.line(`Open this in a browser (it works for 12 hours):

  ${out.style("bold", url)}

MCP endpoint: ${origin}/mcp, with the token in ${file} as \`Authorization: Bearer …\`

Try   ${name} run --background -- 'while date; do sleep 1; done'   and see it on the page;
      ${name} terminal --pty -- python3   then take the keyboard there;
      ${name} setup   to connect an agent, and watch what it does.

Ctrl-C stops the server; what runs goes on.`);
}

function sayGoodbye({ out }: Call, running: number): void {
	if (!out.json)
		out.note(running === 0 ? "\nstopped; nothing was running" : `\nstopped; ${counted(running, "process goes", "processes go")} on (holdfast ps --all)`);
}

/** Prints a new link to a server that runs on this home. */
async function link(call: Call): Promise<void> {
	const url = await linkToRunning(call);
	if (url === undefined) throw new HoldfastError("NOT_FOUND", "no `holdfast serve` runs on this home; start one");
	if (call.out.json) call.out.data({ url });
	else call.out.line(url);
}

/** A second server on the same home would show the same page: unless its address is asked for, the link to the first one does. */
async function alreadyServed(call: Call): Promise<boolean> {
	if (["host", "port", "token-file"].some((name) => call.values[name] !== undefined)) return false;
	const url = await linkToRunning(call);
	if (url === undefined) return false;
	if (call.out.json) call.out.data({ url });
	else
		call.out.line(
			`A server runs on this home already. Open this in a browser (it works for 12 hours):\n\n  ${call.out.style("bold", url)}\n\n--port NUMBER starts another one.`,
		);
	return true;
}

async function linkToRunning(call: Call): Promise<string | undefined> {
	const server = runningServer((await call.runtime()).home.root);
	if (!server) return undefined;
	const { linkKey, readToken } = await import("../../http/index.js");
	return `${server.origin}/#token=${linkKey(readToken(server.token_file))}`;
}

function tokenOf(call: Call, root: string, http: typeof import("../../http/index.js")): { file: string; token: string } {
	const given = call.values["token-file"];
	const file = typeof given === "string" ? path.resolve(given) : path.join(root, "token");
	return { file, token: typeof given === "string" ? http.readToken(file) : http.ensureToken(file) };
}

async function firstFree(open: (port: number) => Promise<HttpServer>, wanted: number, any: boolean): Promise<HttpServer> {
	for (let port = wanted; ; port++) {
		try {
			return await open(port);
		} catch (error) {
			const taken = error instanceof HoldfastError && errno(error.cause) === "EADDRINUSE";
			if (!any || !taken) throw error;
			if (port - wanted >= TRIES || port >= 65_535) return open(0);
		}
	}
}

const untilStopped = (): Promise<unknown> => Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((name) => new Promise((resolve) => process.once(name, resolve))));
