/** Ports and servers on the private network of a sandbox: they are probed from inside. */
import { spawn } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { asset, childrenOf, HoldfastError, onlyThese, readProc } from "../../base/index.js";
import { readParts, type Spec, siblingOf } from "../../keeper/index.js";
import type { Stream } from "../host.js";
import { BOOT, bridged, type PortAddress } from "../link/index.js";
import { findSandboxTools } from "../probe.js";
import { StreamSocket } from "../stream-socket.js";
import { retry } from "./probes.js";

const LISTENS = "0A";
const PROGRAMS = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/** Returns whether a server listens, by the kernel's tables: `sl local_address rem_address st …`, addresses as HEX:PORT. */
export function isListening(tables: readonly string[], port: number, address = /./): boolean {
	const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
	const lines = tables.flatMap((table) => table.split("\n").map((line) => line.trim().split(/\s+/)));
	return lines.some(([, local, , state]) => local?.endsWith(wanted) && state === LISTENS && address.test(local.slice(0, -wanted.length)));
}

/** Waits until a server listens on the port. */
export async function portOpensInside(dir: string, spec: Spec, port: number, signal: AbortSignal): Promise<void> {
	await retry(signal, async () => {
		const pid = firstInside(dir, spec);
		const tables = ["tcp", "tcp6"].map((table) => readProc(`/proc/${pid}/net/${table}`) ?? "");
		if (!isListening(tables, port)) throw new Error("nothing listens");
	});
}

/** Makes the same request as outside, by a program of ours on that network; it has this machine's files and nothing of the sandbox's. */
export async function httpAnswersInside(
	dir: string,
	spec: Spec,
	{ url, status }: { url: string; status: number | undefined },
	signal: AbortSignal,
): Promise<void> {
	const tools = findSandboxTools();
	if ("missing" in tools) throw new Error(tools.missing);
	await retry(signal, async () => {
		const code = `import { httpAnswers } from ${JSON.stringify(pathToFileURL(asset("../dist/lib/probes.js")))};
			const [url, status] = process.argv.slice(1); await httpAnswers(url, status ? Number(status) : undefined, new AbortController().signal);`;
		const argv = [...networkOf(dir, spec), process.execPath, "--input-type=module", "-e", code, url, status === undefined ? "" : String(status)];
		const child = spawn(tools.nsenter, argv, { cwd: "/", env: {}, stdio: onlyThese("ignore", "ignore", "ignore"), signal });
		await new Promise<void>((resolve, reject) => {
			child.once("error", reject); // also when the wait is over and the child is killed
			child.once("exit", (ended) => (ended === 0 ? resolve() : reject(new Error("it could not ask"))));
		});
	});
}

/** Connects to a port inside, through a local program on that network. */
export async function connectInside(dir: string, spec: Spec, to: PortAddress, signal?: AbortSignal): Promise<Duplex> {
	const tools = findSandboxTools();
	if ("missing" in tools) throw new HoldfastError("UNSUPPORTED", tools.missing);
	const words = networkOf(dir, spec);
	const child = spawn(tools.nsenter, [...words, "sh", "-c", BOOT], {
		cwd: "/",
		env: { PATH: PROGRAMS, LC_ALL: "C" },
		stdio: onlyThese("pipe", "pipe", "ignore"),
	});
	const ended = new Promise<string>((resolve) => {
		child.once("error", ({ message }) => resolve(message));
		child.once("exit", (code, by) => resolve(`it ended with ${by ?? `code ${code}`}`));
	});
	const stream: Stream = { input: child.stdin as Writable, output: child.stdout as Readable, ended, close: () => void child.kill("SIGKILL") };
	return new StreamSocket(await bridged(stream, to, signal), (why) => new HoldfastError("UNREACHABLE", `the connection has ended: ${why}`));
}

/** Returns the nsenter arguments for the network of a sandbox. */
const networkOf = (dir: string, spec: Spec): string[] => ["--preserve-credentials", "--target", String(firstInside(dir, spec)), "--user", "--net", "--"];

/** Returns the first process of the sandbox that a process runs in. */
function firstInside(dir: string, { sandbox }: Spec): number {
	const { child } = readParts(siblingOf(dir, sandbox ?? ""));
	const [first] = child ? childrenOf(child.pid) : [];
	if (first === undefined) throw new HoldfastError("ENDED", "the sandbox has ended");
	return first;
}
