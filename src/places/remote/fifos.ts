/** The two FIFOs of a remote process: its stdin, and its collector. */
import { setTimeout as sleep } from "node:timers/promises";
import { counted, HoldfastError } from "../../base/index.js";
import type { Reach } from "./reach.js";
import { directoryIn } from "./ready.js";

const PIECE = 4096; // PIPE_BUF
const LONGEST_PAUSE_MS = 50;

/** Writes bytes to the stdin of a process. Resolves with how many are in its pipe; fewer if it is `over` before it has taken them all. */
export async function toStdin(reach: Reach, id: string, bytes: Buffer, over: () => boolean, signal?: AbortSignal): Promise<number> {
	await reach.ready();
	const fifo = `${reach.directoryOf(id)}/in`;
	let done = 0;
	for (let pause = 1; done < bytes.length; ) {
		if (signal?.aborted) throw new HoldfastError("ABORTED", `interrupted after ${done} of ${counted(bytes.length, "byte")} had been written to ${id}`);
		const piece = bytes.subarray(done, done + PIECE);
		const sent = await reach
			.use((link) => link.send(fifo, piece), { again: false, signal })
			.catch((error: Error) => {
				throw new HoldfastError(
					"UNREACHABLE",
					`the link to ${reach.name} broke while this was written to ${id}: ${done} of ${counted(bytes.length, "byte")} are there, the next ${piece.length} may be; look at its output before you send them again (${error.message})`,
					{ cause: error },
				);
			});
		if (sent === "absent" || over()) break;
		if (sent === "sent") {
			done += piece.length;
			pause = 1;
		} else {
			await sleep(pause); // its pipe is full, and no event reports room
			pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
		}
	}
	if (done < bytes.length) throw new HoldfastError("ENDED", `${id} stopped reading after ${done} of ${counted(bytes.length, "byte")}`);
	return done;
}

/** The leading newline separates the message from what dd may be writing. Without a reader there is no collector to tell. */
export async function toCollector(reach: Reach, id: string, message: string): Promise<void> {
	await reach.quietly(async (link) => {
		const directory = directoryIn(await reach.prepare(link), id);
		await link.send(`${directory}/ctl`, Buffer.from(`\n${message}\n`));
	});
}
