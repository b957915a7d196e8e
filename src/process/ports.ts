/** The TCP ports that a process and its descendants listen on, according to its kernel. */
import { HoldfastError } from "../base/index.js";
import { members } from "./kill.js";
import type { Process } from "./process.js";
import { isOver } from "./status.js";
import { snapshot } from "./tree.js";

export interface ListeningPort {
	readonly port: number;
	/** An address at which the port can be reached, on the network of the process. */
	readonly address: string;
}

const LISTENS = "0A";
const MOST_PROCESSES = 500;
const MOST_FILES = 20_000;

/** Returns each port once, lowest first; none for an ended process. Only sockets of its own processes count, not other listeners on its machine. */
export async function portsOf(process: Process): Promise<ListeningPort[]> {
	const { kernel, dir, spec, pid } = process;
	if (isOver(process.status()) || pid === null || !(await process.machine.processes.canAsk(process))) return [];
	const net = spec.ownNetwork ? `/proc/${pid}/net` : "/proc/net";
	const [four, six] = await kernel.read([`${net}/tcp`, `${net}/tcp6`]);
	const listening = [...listenersIn(four), ...listenersIn(six)];
	if (listening.length === 0) return [];
	const own = await socketsOf(process, members(await snapshot(kernel), dir, spec));
	const found = new Map<number, ListeningPort>();
	for (const { inode, port, address } of listening) if (own.has(inode) && !found.has(port)) found.set(port, { port, address });
	return [...found.values()].sort((a, b) => a.port - b.port);
}

/** Returns the port of a process. Throws NOT_FOUND, listing its ports, if the process does not listen on it. */
export async function listeningOn(process: Process, port: number): Promise<ListeningPort> {
	const ports = await portsOf(process);
	const found = ports.find((one) => one.port === port);
	if (found) return found;
	const others = ports.length > 0 ? `; it listens on ${ports.map((one) => one.port).join(", ")}` : isOver(process.status()) ? ": it has ended" : "";
	throw new HoldfastError("NOT_FOUND", `nothing of ${process.spec.name ?? process.id} listens on port ${port}${others}`);
}

/** Returns the inodes of the sockets that the processes have open. */
async function socketsOf({ kernel }: Process, pids: readonly number[]): Promise<Set<string>> {
	const dirs = pids.slice(0, MOST_PROCESSES).map((pid) => `/proc/${pid}/fd`);
	const files = (await kernel.names(dirs)).flatMap((names, at) => names.map((name) => `${dirs[at]}/${name}`)).slice(0, MOST_FILES);
	const links = await kernel.links(files);
	return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link ?? "")?.[1] ?? []));
}

/** Parses /proc/net/tcp: `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`, addresses as HEX:PORT. */
function listenersIn(table: string | undefined): (ListeningPort & { readonly inode: string })[] {
	return (table ?? "").split("\n").flatMap((line) => {
		const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
		const [hex = "", port = ""] = (local ?? "").split(":");
		return state === LISTENS && inode !== undefined ? [{ inode, port: Number.parseInt(port, 16), address: addressOf(hex) }] : [];
	});
}

/**
 * Decodes an address. Each group of four bytes is a number in the processor's byte order, which is little-endian on all supported machines. Returns
 * loopback for the wildcard address.
 */
function addressOf(hex: string): string {
	const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, "hex").reverse()]);
	if (bytes.every((byte) => byte === 0)) return bytes.length === 4 ? "127.0.0.1" : "::1";
	if (bytes.length === 4) return bytes.join(".");
	if (bytes.slice(0, 12).join() === "0,0,0,0,0,0,0,0,0,0,255,255") return bytes.slice(12).join(".");
	const groups = Array.from({ length: 8 }, (_, at) => (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16));
	return groups.join(":");
}
