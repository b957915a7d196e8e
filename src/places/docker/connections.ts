/** Connections to an engine: over a socket, TCP, TLS or ssh. A connection is reused for a few seconds after an answer. */
import http from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { HoldfastError, shellQuote } from "../../base/index.js";
import { type Near, sshHost } from "../ssh/index.js";
import { StreamSocket } from "../stream-socket.js";
import type { Way } from "./engine-address.js";

/** As long as one start of a container takes, with its pauses; then the descriptor is closed. */
const IDLE_MS = 4_000;

export function connectionsTo(way: Way, near: Near): http.Agent {
	const agent = new http.Agent({ keepAlive: true, timeout: IDLE_MS });
	const connect = connector(way, near);
	// Missing in Node's types: the hook that an agent calls for a new connection.
	Object.assign(agent, {
		createConnection: (_options: unknown, done: (error: Error | null, socket?: Duplex) => void) => void connect().then((socket) => done(null, socket), done),
	});
	return agent;
}

function connector(way: Way, near: Near): () => Promise<Duplex> {
	switch (way.kind) {
		case "unix":
			return async () => net.connect(way.socket);
		case "tcp": {
			const { host, port, tls: certificates } = way;
			if (certificates === undefined) return async () => net.connect({ host, port });
			const servername = net.isIP(host) ? "" : host;
			return async () => tls.connect({ host, port, servername, ...certificates });
		}
		case "ssh": {
			const machine = sshHost(way.machine, near);
			const dial = `docker ${way.socket === undefined ? "" : `--host ${shellQuote(`unix://${way.socket}`)} `}system dial-stdio`;
			return async () => {
				await machine.start();
				return new StreamSocket(
					await machine.open(dial),
					(why) => new HoldfastError("UNREACHABLE", `the Docker engine of ${machine.address} cannot be reached: ${why}`),
				);
			};
		}
	}
}
