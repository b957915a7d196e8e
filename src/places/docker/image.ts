/** The image of a container: present, or fetched if the options ask for it. */
import type { Readable } from "node:stream";
import * as z from "zod";
import { HoldfastError } from "../../base/index.js";
import { images } from "./api.js";
import type { Engine } from "./engine.js";
import { statusOf } from "./explain.js";
import type { DockerSettings } from "./options.js";

/** Receives the steps of a fetch, one line each. */
export type PullProgress = (line: string) => void;

/** A fetch may take long, but must not stay silent for longer than this. */
const SILENCE_MS = 120_000;

/** Makes sure that the image is present. Returns true if this call fetched it. */
export async function ensureImage(
	engine: Engine,
	{ image, pull }: DockerSettings,
	progress: PullProgress | undefined,
	signal: AbortSignal | undefined,
): Promise<boolean> {
	try {
		await engine.call("looking for the image", images.inspect(image), { signal });
		return false;
	} catch (error) {
		if (statusOf(error) !== 404) throw error;
	}
	if (pull === "never")
		throw new HoldfastError(
			"START_FAILED",
			`the Docker engine (${engine.where}) has no image ${image}, and it is not fetched unless that is asked for; run: docker pull ${image} (or set pull to "missing"), or choose another image`,
		);
	await fetchImage(engine, image, progress, signal);
	return true;
}

const EVENT = z.object({ status: z.string().optional(), id: z.string().optional(), error: z.string().optional() });

async function fetchImage(engine: Engine, image: string, progress: PullProgress | undefined, signal: AbortSignal | undefined): Promise<void> {
	const doing = `fetching the image ${image}`;
	// Without a tag the engine would fetch every tag.
	const wanted = /@|:[^/]*$/.test(image) ? image : `${image}:latest`;
	const stream = await engine.call(doing, images.pull(wanted), { signal, ms: SILENCE_MS });
	const giveUp = () => stream.destroy(new Error("given up"));
	const timer = setTimeout(giveUp, SILENCE_MS);
	signal?.addEventListener("abort", giveUp, { once: true });
	if (signal?.aborted) giveUp();
	let failed: string | undefined;
	const told = new Set<string>();
	try {
		for await (const line of linesOf(stream)) {
			timer.refresh();
			const { status, id, error } = EVENT.safeParse(parsed(line)).data ?? {};
			failed ??= error;
			const said = status === undefined ? undefined : `fetching ${image}: ${[id, status].filter(Boolean).join(" ")}`;
			if (said !== undefined && !told.has(said)) progress?.(said); // without its progress bar: each step of each layer once
			if (said !== undefined) told.add(said);
		}
	} catch (error) {
		failed ??= (error as Error).message;
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", giveUp);
	}
	if (signal?.aborted) throw new HoldfastError("ABORTED", `${doing}: given up`);
	if (failed !== undefined) throw new HoldfastError("START_FAILED", `${doing}: ${failed}; see whether docker pull ${image} works`);
}

const LONGEST_LINE = 1024 ** 2;

/** Yields the lines of a stream. Not readline, which does not report a broken stream. */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
	let rest = "";
	for await (const chunk of stream.setEncoding("utf8") as AsyncIterable<string>) {
		const lines = (rest + chunk).split("\n");
		rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
		yield* lines;
	}
	yield rest;
}

function parsed(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return undefined;
	}
}
