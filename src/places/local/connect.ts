/** Connections to ports of this machine. */
import net from "node:net";
import { HoldfastError } from "../../base/index.js";
import type { PortAddress } from "../link/index.js";

const CONNECT_MS = 10_000;

/** Connects to a port. Throws UNREACHABLE if the connection is refused. */
export function connectTo({ address, port }: PortAddress, signal?: AbortSignal): Promise<net.Socket> {
	return new Promise((resolve, reject) => {
		const socket = net.connect({ host: address, port, noDelay: true });
		const fail = (why: string) => {
			done();
			socket.on("error", () => {}); // given up
			socket.destroy();
			reject(new HoldfastError("UNREACHABLE", `the port cannot be reached: ${why}`));
		};
		const failed = ({ message }: Error) => fail(message);
		const given = () => fail("it was given up");
		const timer = setTimeout(() => fail("no answer in time"), CONNECT_MS);
		const done = () => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", given);
			socket.off("error", failed);
		};
		socket.once("error", failed);
		socket.once("connect", () => {
			done();
			resolve(socket);
		});
		if (signal?.aborted) given();
		else signal?.addEventListener("abort", given, { once: true });
	});
}
