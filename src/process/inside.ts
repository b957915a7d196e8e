/** Ports and servers on the network of a sandbox, which has nobody else on it: they are asked after from in there. */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { asset } from "../base/asset.js";
import { onlyThese } from "../base/inherited.js";
import { childrenOf, readProc } from "../base/proc.js";
import { readParts } from "../keeper/layout.js";
import { findSandboxTools } from "../places/probe.js";
import { retry } from "./probes.js";
import type { Spec } from "./spec.js";
import { siblingOf } from "./status.js";

const LISTENS = "0A";

/** Whether somebody listens, as the kernel lists it: `sl local_address rem_address st …`, addresses as HEX:PORT. */
export function isListening(tables: readonly string[], port: number, address = /./): boolean {
	const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
	const lines = tables.flatMap((table) => table.split("\n").map((line) => line.trim().split(/\s+/)));
	return lines.some(([, local, , state]) => local?.endsWith(wanted) && state === LISTENS && address.test(local.slice(0, -wanted.length)));
}

/** Somebody listens there. */
export async function portOpensInside(dir: string, spec: Spec, port: number, signal: AbortSignal): Promise<void> {
	await retry(signal, async () => {
		const pid = firstInside(dir, spec);
		const tables = ["tcp", "tcp6"].map((table) => readProc(`/proc/${pid}/net/${table}`) ?? "");
		if (!isListening(tables, port)) throw new Error("nobody listens");
	});
}

/** The same request as outside, made by a program of ours on that network; it has this machine's files and nothing of the sandbox's. */
export async function httpAnswersInside(
	dir: string,
	spec: Spec,
	{ url, status }: { url: string; status: number | undefined },
	signal: AbortSignal,
): Promise<void> {
	const tools = findSandboxTools();
	if ("missing" in tools) throw new Error(tools.missing);
	await retry(signal, async () => {
		const network = ["--preserve-credentials", "--target", String(firstInside(dir, spec)), "--user", "--net", "--"];
		const code = `import { httpAnswers } from ${JSON.stringify(pathToFileURL(asset("../dist/process/probes.js")))};
			const [url, status] = process.argv.slice(1); await httpAnswers(url, status ? Number(status) : undefined, new AbortController().signal);`;
		const argv = [...network, process.execPath, "--input-type=module", "-e", code, url, status === undefined ? "" : String(status)];
		const child = spawn(tools.nsenter, argv, { cwd: "/", env: {}, stdio: onlyThese("ignore", "ignore", "ignore"), signal });
		await new Promise<void>((resolve, reject) => {
			child.once("error", reject); // also when the wait is over, and it is ended
			child.once("exit", (ended) => (ended === 0 ? resolve() : reject(new Error("it could not ask"))));
		});
	});
}

/** The first process of the sandbox that a process runs in. */
function firstInside(dir: string, { sandbox }: Spec): number {
	const { child } = readParts(siblingOf(dir, sandbox ?? ""));
	const [first] = child ? childrenOf(child.pid) : [];
	if (first === undefined) throw new Error("the sandbox has ended");
	return first;
}
