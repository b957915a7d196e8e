/**
 * The SIF file of an image. A registry image is fetched and converted once, by a script of its own (fetch.sh), and always started from that file: given a
 * name, Apptainer asks the registry again even if the image is cached. Layers that Apptainer has, by digest, are not fetched again.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, statIfThere, timeText } from "../../base/index.js";
import { endGroup, type Program, plain } from "../child.js";
import { digest } from "../owner.js";
import { isFile } from "./address.js";
import { FETCHING, fetchArguments, fetchScript, WAITING } from "./fetch.js";
import type { ApptainerSettings } from "./options.js";
import type { Scratch } from "./scratch.js";
import { refused } from "./words.js";

const FETCH_MS = 6 * 3_600_000;
const LOOK_MS = 200;
/** How much of the end of what the script says is looked at. */
const LOG_BYTES = 256 * 1024;

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
	return { file, fetched: await fetchImage(file, { program, settings, scratch, progress, signal }) };
}

/** Returns true if this call fetched the image, false if it waited for another's fetch. An aborted call or a killed program does not stop the fetch: the next caller waits for it. */
async function fetchImage(file: string, { program, settings, scratch, progress, signal }: ImageOptions): Promise<boolean> {
	const { image } = settings;
	const log = unnamedFile(scratch.temporary);
	try {
		const args = ["-c", fetchScript(), "holdfast", ...fetchArguments(program.name, file, settings)];
		const child = spawn("sh", args, { cwd: "/", detached: true, stdio: ["ignore", log, log], env: program.env });
		child.unref();
		let code: number | null | undefined;
		const end = new Promise<void>((resolve, reject) => {
			child.once("error", reject);
			child.once("exit", (given) => {
				code = given;
				resolve();
			});
		});
		let fetches = false;
		for (const until = performance.now() + FETCH_MS; ; ) {
			await Promise.race([end, sleep(LOOK_MS, undefined, signal ? { signal } : {}).catch(() => {})]);
			const said = textIn(log);
			fetches ||= said.includes(FETCHING);
			if (code === 0) return fetches;
			if (code !== undefined) throw refused(`the image ${image} cannot be had`, said, settings);
			if (signal?.aborted) throw new HoldfastError("ABORTED", `waiting for the image ${image} was given up; it is fetched all the same`);
			if (performance.now() > until) {
				endGroup(child.pid);
				throw new HoldfastError("UNREACHABLE", `fetching ${image}: not done within ${timeText(FETCH_MS / 1000)}`);
			}
			if (fetches) progress?.(`fetching ${image}${lastLine(said)}`);
			else if (said.includes(WAITING)) progress?.(`another program fetches ${image}`);
		}
	} finally {
		fs.closeSync(log);
	}
}

/** Opens a file that goes with its last user. */
function unnamedFile(dir: string): number {
	const file = path.join(dir, `log-${randomBytes(6).toString("hex")}`);
	const open = fs.openSync(file, "ax+", 0o600);
	fs.unlinkSync(file);
	return open;
}

function textIn(open: number): string {
	const { size } = fs.fstatSync(open);
	const bytes = Buffer.alloc(Math.min(size, LOG_BYTES));
	return bytes.toString("utf8", 0, fs.readSync(open, bytes, 0, bytes.length, size - bytes.length));
}

/** Returns Apptainer's last word, as the rest of a sentence. */
function lastLine(said: string): string {
	const line = said
		.split(/[\r\n]/)
		.map(plain)
		.findLast((one) => one !== "" && one !== FETCHING && one !== WAITING);
	return line === undefined ? "" : `: ${line.replace(/^INFO:\s*/, "")}`;
}
