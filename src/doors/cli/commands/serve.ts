import path from "node:path";
import { counted, errno, HoldfastError, loadConfig, ownName } from "../../../base/index.js";
import { recordServer, resume, runningServer, urlsOf } from "../../../process/index.js";
import type { PushOptions } from "../../../push/index.js";
import type { AgentRuntime } from "../../../tools/index.js";
import type { HttpServer } from "../../http/index.js";
import { type CliCall, type CommandBody, EXIT, noWords, numberOption } from "../command.js";
import { install, uninstall } from "../install.js";
import { chosen } from "../open.js";
import { qrCode, qrLines } from "../qr.js";

const PORT = 4653; // HOLD on a telephone
const TRIES = 20;

export const serve: CommandBody = {
	name: "serve",
	usage:
		"[--host ADDRESS] [--port NUMBER | --any-port] [--public-url URL]… [--preview-url URL]… [--token-file FILE] [--link | --install [--print] | --uninstall]",
	options: {
		host: { type: "string", value: "ADDRESS", help: "listen here (default 127.0.0.1); any but loopback needs --token-file" },
		port: { type: "string", value: "NUMBER", help: `listen on this port (default ${PORT}); 0: any that is free` },
		"any-port": { type: "boolean", help: "if the port is taken, take the next one that is free" },
		"public-url": {
			type: "string",
			value: "URL",
			multiple: true,
			help: "browsers reach it at this address too, through a proxy or by a name; links have the first one given",
		},
		"preview-url": {
			type: "string",
			value: "URL",
			multiple: true,
			help: "previews of ports have their names below this one, as https://*.preview.example.org; below localhost they always work",
		},
		"token-file": { type: "string", value: "FILE", help: "the token that opens the door (default: `token` in the home, made if need be)" },
		resume: { type: "boolean", help: "first start processes of `run --restart` again that the end of the machine has ended" },
		link: { type: "boolean", help: "print a new link to the server that runs on this home, and leave" },
		install: { type: "boolean", help: "write a systemd user unit that serves with these options; stopping it leaves what runs running" },
		print: { type: "boolean", help: "with --install: print the unit, and write nothing" },
		uninstall: { type: "boolean", help: "remove the unit" },
	},
	teach: `
Opens nothing by itself: follow the link it prints. The link works for 12 hours, and the browser that has used it stays
logged in for 30 days. Anyone with the link or the token can run commands as you. Ctrl-C stops the server; what runs goes on.
Where the packages holdfast-agent and holdfast-browser are installed too, the page has conversations and browsers.
From another machine: docs/remote.md has recipes (ssh -L needs no option at all).

Examples
  holdfast serve
  holdfast serve --port 5000
  holdfast serve --public-url https://box.example.org
  holdfast serve --link
  holdfast serve --install --public-url https://box.example.org`,
	async run(call) {
		noWords(call);
		const { values } = call;
		if ([values.link, values.install, values.uninstall].filter(Boolean).length > 1)
			throw new HoldfastError("INVALID", "give one of --link, --install and --uninstall");
		if (values.print && !values.install) throw new HoldfastError("INVALID", "--print goes with --install");
		if (values.link) await link(call);
		else if (values.uninstall) uninstall(call);
		else if (values.install) {
			chosen(values);
			addressOf(call, await import("../../http/index.js"));
			install(call);
		} else {
			if (values.resume) await startAgain(call);
			if (!(await alreadyServed(call))) await run(call);
		}
		return EXIT.ok;
	},
};

/** A process that cannot be started again must not keep the server from serving. */
async function startAgain(call: CliCall): Promise<void> {
	const say = (text: string) => call.out.note(`holdfast serve: ${text}`);
	try {
		for (const { was, name, now, note } of await resume(await call.runtime())) {
			const about = note === undefined ? "" : `: ${note}`;
			say(now ? `started ${name ?? was.id} again, which ended with the machine, as ${now.id}${about}` : `${name ?? was.id} was not started again${about}`);
		}
	} catch (error) {
		say(`what the end of the machine has ended could not be started again: ${(error as Error).message}`);
	}
}

async function run(call: CliCall): Promise<void> {
	const [{ httpDoor }, http, { openAgentRuntime }] = await Promise.all([
		import("../../mcp/index.js"),
		import("../../http/index.js"),
		import("../../../tools/index.js"),
	]);
	const { host, port: wanted, publicUrls, previewUrls } = addressOf(call, http);
	const { task } = call.values;
	const { notify: targets } = loadConfig();
	await using runtime = await openAgentRuntime(chosen(call.values));
	const { file, token } = tokenOf(call, runtime.home.root, http);
	const report = (error: Error) => call.out.note(`holdfast serve: ${error.message}`);
	const door = httpDoor(runtime, { onError: report, ...(typeof task === "string" ? { task } : {}) });
	const { parts, problem } = await (await import("../parts.js")).findParts(runtime.home.root, (text) => report(new Error(text)));
	if (problem) report(new Error(problem));
	const site = http.createSite({ runtime, token, parts });
	const open = (port: number) => http.serveHttp({ host, port, token, site, publicUrls, previewUrls, routes: { "/mcp": (request) => door.fetch(request) } });
	await using server = await firstFree(open, wanted, call.values["any-port"] === true);
	const stopped = untilStopped(); // from here on Ctrl-C is ours
	const page = server.urls[0] as string;
	const stopPush = await push(runtime, { targets, page, answerLinks: http.answerLinks(token, page), say: (text) => report(new Error(text)) });
	const forget = recordServer(runtime.home.root, { origin: server.origin, urls: server.urls, preview_urls: previewUrls, token_file: file });
	try {
		greet(call, server, { key: http.linkKey(token), file, wanted, withCode: !http.isLoopback(host) || publicUrls.length > 0 });
		await stopped;
	} finally {
		await stopPush();
		forget();
		sayGoodbye(call, runtime.list({ task: null, ended: false }).length);
		if (door.busy) process.exit(EXIT.ok); // calls under way would hold us; their commands go on without us, as after any sudden death
		await door.close();
	}
}

/** Tells the targets of `notify` in config.json, for as long as the server runs. */
async function push(runtime: AgentRuntime, { targets, ...options }: PushOptions): Promise<() => Promise<void>> {
	return targets.length === 0 ? async () => {} : (await import("../../../push/index.js")).startPush(runtime, { targets, ...options });
}

/** Returns the address to listen at and the public addresses. Wrong options are reported before anything is opened. */
function addressOf(call: CliCall, http: typeof import("../../http/index.js")): { host: string; port: number; publicUrls: string[]; previewUrls: string[] } {
	const host = typeof call.values.host === "string" ? call.values.host : "127.0.0.1";
	const publicUrls = (call.values["public-url"] ?? []) as string[];
	const previewUrls = (call.values["preview-url"] ?? []) as string[];
	if (!http.isLoopback(host) && call.values["token-file"] === undefined)
		throw new HoldfastError(
			"INVALID",
			`${host} can be reached by others, and everything would go there in the clear; if you want that, choose a token with --token-file`,
		);
	http.parsePublicUrls(publicUrls, "--public-url");
	http.parsePreviewUrls(previewUrls, "--preview-url");
	return { host, port: numberOption(call, "port", { min: 0, max: 65_535 }) ?? PORT, publicUrls, previewUrls };
}

interface Greeting {
	readonly key: string;
	readonly file: string;
	readonly wanted: number;
	/** A phone can reach it: its camera can read the link. */
	readonly withCode: boolean;
}

function greet(call: CliCall, { origin, urls }: HttpServer, { key, file, wanted, withCode }: Greeting): void {
	const { out } = call;
	const links = urls.map((url) => linkTo(url, key));
	if (out.json) {
		out.data({ url: links[0], urls: links, mcp: `${urls[0]}/mcp`, origin, token_file: file });
		return;
	}
	if (wanted !== 0 && !origin.endsWith(`:${wanted}`)) out.note(`port ${wanted} is taken; this server uses ${new URL(origin).port}`);
	const name = ownName();
	out.line(`Open ${links.length > 1 ? "one of these" : "this"} in a browser (it works for 12 hours):

${links.map((link) => `  ${out.style("bold", link)}`).join("\n")}
${withCode ? codeOf(call, links[0] ?? "") : ""}
MCP endpoint: ${urls[0]}/mcp, with the token in ${file} as \`Authorization: Bearer …\`

Try   ${name} run --background -- 'while date; do sleep 1; done'   and see it on the page;
      ${name} terminal --pty -- python3   then take the keyboard there;
      ${name} setup   to connect an agent, and watch what it does.

Ctrl-C stops the server; what runs goes on.`);
}

/** The link for the camera of a phone, where a terminal has room for it. */
function codeOf({ out }: CliCall, link: string): string {
	const modules = process.stdout.isTTY ? qrCode(link) : undefined;
	const lines = modules ? qrLines(modules) : [];
	return modules && modules.length + 8 < out.columns ? `\n${lines.map((line) => `  ${line}`).join("\n")}\n` : "";
}

const linkTo = (url: string, key: string): string => `${url}/#token=${key}`;

function sayGoodbye({ out }: CliCall, running: number): void {
	if (!out.json)
		out.note(running === 0 ? "\nstopped; nothing was running" : `\nstopped; ${counted(running, "process goes", "processes go")} on (holdfast ps --all)`);
}

/** Prints a new link to a server that runs on this home. */
async function link(call: CliCall): Promise<void> {
	const links = await linksToRunning(call);
	if (!links) throw new HoldfastError("NOT_FOUND", "no `holdfast serve` runs on this home; start one");
	if (call.out.json) call.out.data({ url: links[0], urls: links });
	else for (const link of links) call.out.line(link);
}

/** A second server on the same home would show the same page: unless its address is asked for, the link to the first one does. */
async function alreadyServed(call: CliCall): Promise<boolean> {
	if (["host", "port", "public-url", "preview-url", "token-file"].some((name) => call.values[name] !== undefined)) return false;
	const links = await linksToRunning(call);
	if (!links) return false;
	if (call.out.json) call.out.data({ url: links[0], urls: links });
	else
		call.out.line(
			`A server runs on this home already. Open this in a browser (it works for 12 hours):\n\n${links.map((link) => `  ${call.out.style("bold", link)}`).join("\n")}\n\n--port NUMBER starts another one.`,
		);
	return true;
}

async function linksToRunning(call: CliCall): Promise<string[] | undefined> {
	const server = runningServer((await call.runtime()).home.root);
	if (!server) return undefined;
	const { linkKey, readToken } = await import("../../http/index.js");
	const key = linkKey(readToken(server.token_file));
	return urlsOf(server).map((url) => linkTo(url, key));
}

function tokenOf(call: CliCall, root: string, http: typeof import("../../http/index.js")): { file: string; token: string } {
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
