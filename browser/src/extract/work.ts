/** Has pages read in a thread of their own, bounded in memory and time. An idle thread is used again, and ends after a while. */
import { Worker } from "node:worker_threads";
import { messageOf, WebError } from "../base/index.js";

export type Work = { readonly kind: "html"; readonly html: string; readonly url: string } | { readonly kind: "pdf"; readonly bytes: Uint8Array };

export interface Extracted {
	readonly title: string;
	readonly markdown: string;
	readonly by?: "article" | "page";
	readonly pages?: number;
}

type Answer = { readonly done: Extracted } | { readonly problem: string };

/** From src and from dist alike. */
const WORKER = new URL("../../dist/extract/worker.js", import.meta.url);
const MEMORY_MB = 768;
const WORK_MS = 45_000;
const IDLE_MS = 30_000;
const LOOK_MS = 20;

let idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | undefined;

interface WorkLimits {
	readonly memoryMb?: number;
	readonly ms?: number;
}

let lastPdf: Promise<unknown> = Promise.resolve();

/** A PDF unpacks into memory that the limit of a thread does not count, so PDFs are read one after the other while the program's own memory is looked at. */
export function extractIn(work: Work, signal?: AbortSignal, limits: WorkLimits = {}): Promise<Extracted> {
	if (work.kind !== "pdf") return inThread(work, signal, limits);
	const mine = lastPdf.then(() => inThread(work, signal, limits));
	lastPdf = mine.catch(() => {});
	return mine;
}

async function inThread(work: Work, signal: AbortSignal | undefined, limits: WorkLimits): Promise<Extracted> {
	signal?.throwIfAborted();
	const { memoryMb = MEMORY_MB, ms = WORK_MS } = limits;
	const own = limits.memoryMb !== undefined;
	const worker =
		(own ? undefined : taken()) ?? new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: memoryMb, stackSizeMb: 8 }, stdout: true, stderr: true });
	const late = AbortSignal.timeout(ms);
	const stop = signal ? AbortSignal.any([signal, late]) : late;
	const what = work.kind === "pdf" ? "PDF" : "page";
	const tooLarge = () => new WebError(`the ${what} takes more than ${memoryMb} MB to read; it was given up`);
	const before = process.memoryUsage.rss();
	let look: NodeJS.Timeout | undefined;
	try {
		worker.ref();
		const answer = await new Promise<Answer>((resolve, reject) => {
			stop.addEventListener(
				"abort",
				() => reject(late.aborted ? new WebError(`the ${what} takes more than ${ms / 1000} s to read; it was given up`) : stop.reason),
				{
					once: true,
				},
			);
			worker.once("message", resolve);
			worker.once("error", (error) => reject(isMemory(error) ? tooLarge() : new WebError(`the ${what} cannot be read: ${messageOf(error)}`)));
			if (work.kind === "pdf") look = setInterval(() => process.memoryUsage.rss() - before > memoryMb * 1024 * 1024 && reject(tooLarge()), LOOK_MS);
			worker.once("exit", () => reject(new WebError(`the ${what} cannot be read`)));
			worker.postMessage(work);
		});
		if (own) await worker.terminate();
		else giveBack(worker);
		if ("problem" in answer) throw new WebError(`the ${what} cannot be read: ${answer.problem}`);
		return answer.done;
	} catch (error) {
		if (!(error instanceof WebError) || idle?.worker !== worker) await worker.terminate();
		throw error;
	} finally {
		clearInterval(look);
	}
}

/** Ends the thread that waits for work. */
export async function endExtraction(): Promise<void> {
	await taken()?.terminate();
}

function taken(): Worker | undefined {
	const found = idle;
	if (found) clearTimeout(found.timer);
	idle = undefined;
	return found?.worker;
}

function giveBack(worker: Worker): void {
	for (const name of ["message", "error", "exit"]) worker.removeAllListeners(name);
	worker.on("error", () => {}); // it ends, and another one is made
	worker.once("exit", () => {
		if (idle?.worker === worker) taken();
	});
	worker.unref();
	if (idle) {
		void worker.terminate();
		return;
	}
	idle = { worker, timer: setTimeout(() => void taken()?.terminate(), IDLE_MS).unref() };
}

const isMemory = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
