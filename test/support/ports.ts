import fs from "node:fs";
import net from "node:net";

const LOWEST = 10_000;

/**
 * A port that nobody has, for a server that is told which to take, or that goes away and comes back. It is not one of those that the kernel gives to
 * whoever asks for any, each connection included: of those another test could have it by then.
 */
export async function freePort(): Promise<number> {
	const [first = 0] = fs.readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/).map(Number);
	const end = first > 2 * LOWEST ? first : 60_000; // on a box that gives out nearly all there are, any will do
	for (;;) {
		const port = LOWEST + Math.floor(Math.random() * (end - LOWEST));
		if (await isFree(port)) return port;
	}
}

const isFree = (port: number): Promise<boolean> =>
	new Promise((resolve) => {
		const server = net.createServer().once("error", () => resolve(false));
		server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
	});
