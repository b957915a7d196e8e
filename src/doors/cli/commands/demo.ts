/** A runtime is killed in the middle of its work; another one goes on where it was. Everything shown here has been checked. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { counted, HoldfastError, ownName } from "../../../base/index.js";
import { openRuntime, summary } from "../../../process/index.js";
import { type CommandBody, EXIT, noWords } from "../command.js";
import type { Output } from "../output.js";
import { statusCell } from "../waits.js";

const SERVER = `
let n = 0;
const server = require("node:http").createServer((_, answer) => answer.end("request served, tick " + n + "\\n"));
server.listen(0, "127.0.0.1", () => console.log("listening on " + server.address().port));
setInterval(() => console.log("tick " + ++n), 20);`;

const QUESTION = `printf 'What is your name? '; read -r name; echo "Hello, $name."; exit 7`;

export const demo: CommandBody = {
	name: "demo",
	usage: "",
	options: {
		worker: { type: "string", value: "HOME", help: "be the runtime that gets killed", hidden: true },
	},
	teach: "Uses a home of its own in the temporary directory and leaves nothing behind.\n\nExample\n  holdfast demo",
	async run(call) {
		const { values, out } = call;
		if (typeof values.worker === "string") return worker(values.worker);
		noWords(call);
		if (out.json) throw new HoldfastError("INVALID", "the demo is for people; it has no JSON");
		const home = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-demo-"));
		const stop = new AbortController();
		for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => stop.abort());
		const shown = show(home, out, stop.signal);
		shown.catch(() => {}); // after an interruption it finds everything gone
		try {
			return await Promise.race([shown, once(stop.signal, "abort").then(() => EXIT.interrupted)]);
		} finally {
			stop.abort();
			await removeAll(home);
		}
	},
};

/** Ends whatever runs in that home, and removes it. */
async function removeAll(home: string): Promise<void> {
	const runtime = await openRuntime({ home, warm: 0 });
	await Promise.all(runtime.list({ task: null, ended: false }).map((process) => process.kill()));
	await runtime.close();
	fs.rmSync(home, { recursive: true, force: true });
}

/** Starts two things, reads the output of one, and never ends by itself. */
async function worker(home: string): Promise<number> {
	const runtime = await openRuntime({ home, warm: 0 });
	const server = await runtime.spawn({ command: [process.execPath, "-e", SERVER], name: "server" });
	const question = await runtime.spawn({ command: QUESTION, name: "question", terminal: true });
	let bytes = 0;
	for await (const slice of server.follow()) {
		bytes += slice.bytes.length;
		process.stdout.write(`${JSON.stringify({ server: server.id, question: question.id, bytes })}\n`);
	}
	return EXIT.failed;
}

interface Report {
	readonly server: string;
	readonly question: string;
	readonly bytes: number;
}

async function show(home: string, out: Output, signal: AbortSignal): Promise<number> {
	const step = (text: string) => out.line(`${out.style("cyan", "▸")} ${text}`);
	const good = (text: string) => out.line(`  ${out.style("green", "✓")} ${text}`);

	step("A runtime starts a server, and a program on a terminal that asks a question.");
	const child = spawn(process.execPath, [process.argv[1] as string, "demo", "--worker", home], {
		stdio: ["ignore", "pipe", "inherit"],
		signal,
		killSignal: "SIGKILL",
	});
	child.on("error", () => {}); // that it was ended
	const report = await firstReport(child.stdout, 400);
	good(`runtime ${child.pid} has read ${counted(report.bytes, "byte")} of the server's output`);

	step(`kill -9 ${child.pid}: no goodbye, no cleanup.`);
	child.kill("SIGKILL");
	await new Promise((resolve) => child.once("exit", resolve));
	good("the runtime is gone");

	step("Another runtime opens the same home.");
	await using runtime = await openRuntime({ home, warm: 0 });
	const server = runtime.get(report.server);
	const question = runtime.get(report.question);
	out.table(
		["  ID", "STATUS", "PID", "COMMAND"],
		runtime
			.list()
			.map((process) => summary(process))
			.map((item) => [`  ${item.session_id}`, statusCell(item, out), String(item.pid), String(item.name)]),
	);

	const seen = await server.wait({ until: { pattern: "tick 100\\b" }, timeout: 20_000 });
	const text = server.read(0).bytes.toString("utf8");
	const ticks = [...text.matchAll(/^tick (\d+)$/gm)].map((match) => Number(match[1]));
	must(seen.matched === "pattern" && ticks.every((tick, index) => tick === index + 1), "a tick is missing or doubled");
	good(`output: ticks 1 to ${ticks.length}, none missing, none doubled, the kill in their middle`);

	const port = /listening on (\d+)/.exec(text)?.[1];
	const answer = await (await fetch(`http://127.0.0.1:${port}/`)).text();
	good(`the server answers on port ${port}: ${answer.trim()}`);

	await question.wait({ until: { pattern: "name\\? " }, timeout: 10_000 });
	await question.write("Ada\r");
	const end = await question.wait({ timeout: 10_000 });
	const said = question.read(0).bytes.toString("utf8").trim().split("\r\n");
	must(said.at(-1) === "Hello, Ada." && end.status.status === "exited" && end.status.exitCode === 7, "the terminal did not answer");
	good(`stdin: typed "Ada" into the terminal, it said "${said.at(-1)}" and exited with 7, as it should`);

	const killed = await server.kill();
	must(killed.status === "killed", "the server survived");
	good(`killed the server with proof: ${killed.signalled.length} signalled, ${killed.survivors.length} left (${killed.method})`);
	out.line();
	out.line(`Now something of your own: ${ownName()} run --background -- 'your command', ${ownName()} help.`);
	return EXIT.ok;
}

async function firstReport(stream: NodeJS.ReadableStream, bytes: number): Promise<Report> {
	for await (const line of createInterface({ input: stream })) {
		const report = JSON.parse(line) as Report;
		if (report.bytes >= bytes) return report;
	}
	throw new HoldfastError("INTERNAL", "the demo's runtime ended before it had started anything");
}

function must(holds: boolean, otherwise: string): void {
	if (!holds) throw new HoldfastError("INTERNAL", `the demo failed: ${otherwise}`);
}
