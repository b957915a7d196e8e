/**
 * The SIF file of an image. A registry image is fetched and converted once, by one program at a time, and always started from that file: given a
 * name, Apptainer asks the registry again even if the image is cached. Layers that Apptainer has, by digest, are not fetched again.
 */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, Lease, namesIn, statIfThere, unlinkIfThere } from "../../base/index.js";
import type { Program } from "../child.js";
import { digest } from "../owner.js";
import { isFile } from "./address.js";
import type { ApptainerSettings } from "./options.js";
import { runApptainer } from "./program.js";
import type { Scratch } from "./scratch.js";
import { refused } from "./words.js";

const FETCH_MS = 6 * 3_600_000;
const LOOK_MS = 500;

/** Returns the path of an image's SIF file, whether or not it exists. */
export const sifFile = ({ image }: Pick<ApptainerSettings, "image">, { images }: Scratch): string =>
	isFile(image) ? image : path.join(images, `${image.replace(/[^\w.-]+/g, "-").slice(-80)}-${digest(image, 12)}.sif`);

export interface ImageOptions {
	readonly program: Program;
	readonly settings: ApptainerSettings;
	readonly scratch: Scratch;
	readonly progress?: ((line: string) => void) | undefined;
	readonly signal?: AbortSignal | undefined;
}

/** Returns the file, and whether this call fetched it. */
export async function ensureImage({
	program,
	settings,
	scratch,
	progress,
	signal,
}: ImageOptions): Promise<{ readonly file: string; readonly fetched: boolean }> {
	const { image, pull } = settings;
	const file = sifFile(settings, scratch);
	if (statIfThere(file)) return { file, fetched: false };
	if (isFile(image)) throw new HoldfastError("START_FAILED", `there is no file ${image} on this machine; make it with: apptainer pull ${image} docker://IMAGE`);
	if (pull === "never")
		throw new HoldfastError(
			"START_FAILED",
			`there is no image ${image} in ${scratch.images}, and it is not fetched unless that is asked for; set pull to "missing", or name a SIF file`,
		);
	for (;;) {
		if (signal?.aborted) throw new HoldfastError("ABORTED", `fetching ${image}: given up`);
		const lease = Lease.take(`${file}.lease`);
		if (lease) {
			try {
				if (statIfThere(file)) return { file, fetched: false };
				await fetchImage(file, { program, settings, scratch, progress, signal });
				return { file, fetched: true };
			} finally {
				lease.release();
			}
		}
		progress?.(`another program fetches ${image}`);
		await sleep(LOOK_MS);
	}
}

/** Fetches under a temporary name until the file is complete. Removes the remains of a killed program: that program held the lease that we hold now. */
async function fetchImage(file: string, { program, settings, progress, signal }: ImageOptions): Promise<void> {
	const { image, insecure } = settings;
	const [dir, base] = [path.dirname(file), path.basename(file)];
	for (const name of namesIn(dir)) if (name.startsWith(`${base}.part-`)) unlinkIfThere(path.join(dir, name));
	const part = `${file}.part-${process.pid}`;
	progress?.(`fetching ${image}`);
	try {
		const onLine = (line: string) => progress?.(`fetching ${image}: ${line.replace(/^INFO:\s*/, "")}`);
		const args = ["pull", "--force", ...(insecure ? ["--no-https"] : []), part, `docker://${image}`];
		const { code, said } = await runApptainer(program, args, { ms: FETCH_MS, signal, onLine });
		if (code !== 0) throw refused(`the image ${image} cannot be had`, said, settings);
		fs.renameSync(part, file);
	} finally {
		unlinkIfThere(part);
	}
}
