import fs from "node:fs";
import net from "node:net";
import { atEnd } from "./home.js";

export interface Line {
	readonly port: number;
	/** From now on nothing gets through, and neither end is told: as when a cable is pulled. */
	cut(): void;
	/** What was held up goes on. */
	mend(): void;
	/** End every connection, as a router does that has forgotten them. */
	drop(): void;
}

/** A way to a port of this machine that a test can cut. */
export async function cuttable(to: number): Promise<Line> {
	const pairs = new Set<readonly [net.Socket, net.Socket]>();
	let silent = false;
	const flow = ([near, far]: readonly [net.Socket, net.Socket]) => {
		near.pipe(far);
		far.pipe(near);
	};
	const stop = ([near, far]: readonly [net.Socket, net.Socket]) => {
		near.unpipe(far).pause();
		far.unpipe(near).pause();
	};
	const server = net.createServer((near) => {
		const pair = [near, net.connect(to, "127.0.0.1")] as const;
		pairs.add(pair);
		for (const [own, other] of [pair, [pair[1], pair[0]]] as const) {
			own.on("error", () => {}); // the end of it comes as well
			own.on("close", () => {
				pairs.delete(pair);
				other.destroy();
			});
		}
		if (!silent) flow(pair);
	});
	await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
	const drop = () => {
		for (const pair of pairs) for (const socket of pair) socket.destroy();
	};
	atEnd(async () => {
		drop();
		await new Promise((resolve) => server.close(resolve));
	});
	return {
		port: (server.address() as net.AddressInfo).port,
		cut: () => {
			silent = true;
			for (const pair of pairs) stop(pair);
		},
		mend: () => {
			silent = false;
			for (const pair of pairs) flow(pair);
		},
		drop,
	};
}

/** The same machine under another port. */
export function known(keys: string, port: number, other: number): void {
	const lines = fs.readFileSync(`${keys}/known_hosts`, "utf8");
	fs.writeFileSync(`${keys}/known_hosts`, lines + lines.replaceAll(`:${port} `, `:${other} `));
}
