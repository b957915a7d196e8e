/** A separate stream to a TCP port of a machine, beside the link: the remote `bridge.sh` joins the two. docs/link.md */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import { asset, HoldfastError } from "../../base/index.js";
import type { Stream } from "../host.js";
import { TAKE } from "./boot.js";

const OPEN_MS = 15_000;
const NOISE_MOST = 64 * 1024;

/** A port and its address, on the network of the port. */
export interface PortAddress {
	readonly address: string;
	readonly port: number;
}

/** Turns a stream to `BOOT` into one to the port. Throws UNREACHABLE, and closes the stream, if the connection is refused. */
export async function bridged(stream: Stream, at: PortAddress, signal?: AbortSignal): Promise<Stream> {
	const mark = `HF${randomBytes(8).toString("hex")}`;
	try {
		const opened = marked(stream, mark, signal);
		stream.input.on("error", () => {}); // the end of the stream says more
		stream.input.write(bridgeText(at, mark));
		const said = await opened;
		if (said === "none")
			throw new HoldfastError("UNSUPPORTED", "nothing there can connect to a port: neither perl, python3, nc nor bash; install one of them there");
		return stream;
	} catch (error) {
		stream.close();
		throw error;
	}
}

function bridgeText({ address, port }: PortAddress, mark: string): Buffer {
	const script = fs.readFileSync(asset("places/link/bridge.sh"));
	const first = [
		`bridge_mark="${mark.slice(0, 2)}""${mark.slice(2)}"`, // in two halves, so that an echo of this line is not taken for the answer
		`bridge_at=${address}`,
		`bridge_hex=${hexOf(address)}`,
		`bridge_port=${port}`,
		TAKE,
		`eval "$(link_take ${script.length})"`,
	];
	return Buffer.concat([Buffer.from(`${first.join("; ")}\n`), script]);
}

/** Returns the bytes of an address, as digits. */
function hexOf(address: string): string {
	if (net.isIPv4(address)) return Buffer.from(address.split(".").map(Number)).toString("hex");
	if (!net.isIPv6(address) || address.includes(".") || address.includes("%")) throw new HoldfastError("INVALID", `${address} is no address`);
	const [head = "", tail] = address.split("::", 2).map((half) => (half === "" ? [] : half.split(":")));
	const groups = tail === undefined ? [...head] : [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
	return groups.map((group) => group.padStart(4, "0")).join("");
}

/** Waits for the line with the mark, and leaves everything after it in the stream. Returns the rest of that line. */
function marked(stream: Stream, mark: string, signal: AbortSignal | undefined): Promise<string> {
	const { output } = stream;
	return new Promise((resolve, reject) => {
		let seen = Buffer.alloc(0);
		const done = (settle: () => void) => {
			output.off("data", take);
			output.off("end", ended);
			clearTimeout(timer);
			signal?.removeEventListener("abort", late);
			settle();
		};
		const fail = (why: string) => done(() => reject(new HoldfastError("UNREACHABLE", `the port cannot be reached: ${why}`)));
		const late = () => fail("no answer in time");
		const ended = () => fail("no process accepts connections on it");
		const take = (bytes: Buffer) => {
			seen = Buffer.concat([seen, bytes]);
			const from = seen.indexOf(mark);
			const to = from < 0 ? -1 : seen.indexOf("\n", from);
			if (to < 0) return seen.length > NOISE_MOST ? fail("something else answers") : undefined;
			output.pause();
			const rest = seen.subarray(to + 1);
			done(() => {
				if (rest.length > 0) output.unshift(rest);
				resolve(
					seen
						.subarray(from + mark.length, to)
						.toString("latin1")
						.trim(),
				);
			});
		};
		output.on("error", () => {});
		output.on("data", take);
		output.on("end", ended);
		const timer = setTimeout(late, OPEN_MS);
		if (signal?.aborted) late();
		else signal?.addEventListener("abort", late, { once: true });
	});
}
