/**
 * The way to a port in a place whose network is not that of this program: a sandbox, a container, a machine over SSH. A kept process of the task connects
 * its input and output to the port in there; here one connection is taken on loopback and joined to it. It works wherever processes can be started.
 */
import fs from "node:fs";
import net from "node:net";
import { pid } from "node:process";
import type { Process, Task } from "holdfast";
import { WebError } from "../base/index.js";

const NAME = "browser-link";
const RELAY = 'exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1; cat <&3 & exec cat >&3';
const LOG = { limit: 16 * 1024 * 1024, full: "block" } as const;
/** Output that was passed on is dropped in pieces of this size. */
const DISCARD = 4 * 1024 * 1024;
const ACCEPT_MS = 30_000;

export interface Tunnel {
	/** On loopback, for one connection. */
	readonly port: number;
	close(): Promise<void>;
}

export async function openTunnel(task: Task, port: number): Promise<Tunnel> {
	for (const old of task.processes({ ended: false })) if (old.spec.name === NAME && isOrphan(old.spec.command)) await old.kill({ graceMs: 0 }).catch(() => {});
	const command = ["bash", "-c", RELAY, "holdfast-browser", String(port), me()];
	const process = await task.spawn({ command, name: NAME, cwd: "/tmp", stdin: true, log: LOG });
	const stop = new AbortController();
	const server = net.createServer({ noDelay: true });
	const close = async (): Promise<void> => {
		stop.abort();
		server.close();
		await process.kill({ graceMs: 0 }).catch(() => {}); // it ends with the task at the latest
	};
	server.once("connection", (socket) => {
		server.close(); // one connection: others on this machine have no way in
		clearTimeout(unused);
		socket.on("error", () => {});
		socket.once("close", () => void close());
		void outward(process, socket, stop.signal);
		void inward(process, socket);
	});
	const unused = setTimeout(() => void close(), ACCEPT_MS).unref();
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(0, "127.0.0.1", resolve);
	});
	const address = server.address();
	if (address === null || typeof address === "string") throw new WebError("no port on loopback is free");
	return { port: address.port, close };
}

/** This program: its pid with the time of its start, and the pid namespace in which they say something. */
const me = (): string => `${pid}.${startOf(pid)}.${fs.readlinkSync("/proc/self/ns/pid")}`;

/** The program that has opened it was killed. One of another host or pid namespace is left alone: it ends with the task. */
function isOrphan(command: readonly string[] | string): boolean {
	const [, owner = "", start = "", namespace = ""] = /^(\d+)\.(\d+)\.(.+)$/.exec(command.at(-1) ?? "") ?? [];
	return me().endsWith(`.${namespace}`) && startOf(Number(owner)) !== start;
}

function startOf(of: number): string {
	try {
		return fs.readFileSync(`/proc/${of}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
	} catch {
		return "";
	}
}

async function outward(process: Process, socket: net.Socket, signal: AbortSignal): Promise<void> {
	let dropped = 0;
	try {
		for await (const { bytes, next } of process.follow({ from: 0, signal })) {
			if (!socket.write(bytes) && !socket.destroyed) await new Promise<void>((resolve) => socket.once("drain", resolve).once("close", () => resolve()));
			if (next - dropped < DISCARD) continue;
			dropped = next;
			await process.discard(next);
		}
	} catch {
		// the process, or this program's interest in it, has ended
	}
	socket.destroy();
}

async function inward(process: Process, socket: net.Socket): Promise<void> {
	try {
		for await (const piece of socket) await process.write(piece as Buffer);
	} catch {
		socket.destroy();
	}
}
