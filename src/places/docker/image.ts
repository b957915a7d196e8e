/** The image of a container: it is there, or it is fetched if that was asked for. */
import { HoldfastError } from "../../base/errors.js";
import { type Engine, statusOf } from "./engine.js";
import type { DockerSettings } from "./options.js";

/** What is being fetched, a line at a time. */
export type Progress = (line: string) => void;

/** A fetch may take long; but not without a word. */
const SILENCE_MS = 120_000;

/** True: it was fetched just now. */
export async function ensureImage(
	engine: Engine,
	{ image, pull }: DockerSettings,
	progress: Progress | undefined,
	signal: AbortSignal | undefined,
): Promise<boolean> {
	try {
		await engine.call("looking for the image", () => engine.docker.getImage(image).inspect(), { signal });
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

interface Event {
	readonly status?: string;
	readonly id?: string;
	readonly progress?: string;
	readonly error?: string;
}

async function fetchImage(engine: Engine, image: string, progress: Progress | undefined, signal: AbortSignal | undefined): Promise<void> {
	const doing = `fetching the image ${image}`;
	// Without a tag the engine would fetch all of them.
	const wanted = /@|:[^/]*$/.test(image) ? image : `${image}:latest`;
	const stream = await engine.call(doing, (abortSignal) => engine.docker.pull(wanted, { abortSignal }), { signal, ms: SILENCE_MS });
	const failed = await new Promise<string | undefined>((resolve) => {
		const end = (why: string | undefined) => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", giveUp);
			resolve(why);
		};
		const giveUp = () => (stream as unknown as { destroy(error: Error): void }).destroy(new Error("given up"));
		const timer = setTimeout(giveUp, SILENCE_MS);
		signal?.addEventListener("abort", giveUp, { once: true });
		if (signal?.aborted) giveUp();
		let why: string | undefined;
		engine.docker.modem.followProgress(
			stream,
			(error) => end(error ? error.message : why),
			({ status, id, progress: bar, error }: Event) => {
				timer.refresh();
				why ??= error;
				if (status !== undefined) progress?.([id, status, bar].filter(Boolean).join(" "));
			},
		);
	});
	if (signal?.aborted) throw new HoldfastError("ABORTED", `${doing}: given up`);
	if (failed !== undefined) throw new HoldfastError("START_FAILED", `${doing}: ${failed}; see whether docker pull ${image} works`);
}
