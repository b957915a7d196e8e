/** A way to a server of this machine that a test can cut: at once, or at the moment when a text goes through. */
import net from "node:net";

interface Cut {
	readonly when: "before" | "after";
	readonly marker: Buffer;
}

export class CuttableLine {
	readonly #to: number;
	readonly #pairs = new Set<readonly [net.Socket, net.Socket]>();
	readonly #server: net.Server;
	#cut: Cut | undefined;
	#gate: { readonly marker: string; readonly reached: () => void; readonly opened: Promise<void> } | undefined;

	constructor(to: number) {
		this.#to = to;
		this.#server = net.createServer((near) => this.#join(near));
	}

	async listen(): Promise<number> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return (this.#server.address() as net.AddressInfo).port;
	}

	/**
	 * When the marker comes from the client: before, neither it nor anything else of that piece is passed on; after, it is, and everything that the server
	 * says from then on is held back until it has closed or read it all.
	 */
	cutAt(when: "before" | "after", marker: string): void {
		this.#cut = { when, marker: Buffer.from(marker) };
	}

	/** Holds what the client sends from the marker on. `reached` resolves when it is there; `open` lets everything through, in order. */
	holdAt(marker: string): { readonly reached: Promise<void>; open(): void } {
		let [open, reached] = [(): void => undefined, (): void => undefined];
		const opened = new Promise<void>((resolve) => {
			open = resolve;
		});
		const held = new Promise<void>((resolve) => {
			reached = resolve;
		});
		this.#gate = { marker, reached, opened };
		return { reached: held, open };
	}

	drop(): void {
		for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
	}

	async close(): Promise<void> {
		this.drop();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	#join(near: net.Socket): void {
		const far = net.connect(this.#to, "127.0.0.1");
		const pair = [near, far] as const;
		this.#pairs.add(pair);
		let tail = Buffer.alloc(0);
		let held = false;
		for (const [own, other] of [pair, [far, near]] as const) {
			own.on("error", () => undefined); // the end of it comes as well
			own.on("close", () => {
				if (own === near && held) return; // the server still reads what was passed on; its own end comes
				this.#pairs.delete(pair);
				other.destroy();
			});
		}
		near.on("end", () => far.end());
		far.on("end", () => near.end());
		far.on("data", (chunk) => held || near.write(chunk));
		near.on("data", (chunk: Buffer) => {
			const gate = this.#gate;
			if (gate && chunk.includes(gate.marker)) {
				this.#gate = undefined;
				near.pause();
				gate.reached();
				void gate.opened.then(() => {
					far.write(chunk);
					near.resume();
				});
				return;
			}
			tail = Buffer.concat([tail, chunk]);
			const cut = this.#cut;
			const found = cut && tail.includes(cut.marker);
			tail = tail.subarray(-Math.max(0, (cut?.marker.length ?? 1) - 1));
			if (!found) return void far.write(chunk);
			this.#cut = undefined;
			if (cut.when === "before") return void near.destroy();
			held = true;
			near.destroy();
			far.write(chunk);
			far.end();
		});
	}
}
