/**
 * Images of tasks that are built: once for each digest of their folder, whatever number of episodes and programs asks for one. An engine keeps so many of them:
 * those that were used least recently go, and its own time of the last tag says when that was.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { anySignal, ensureDir, withClaim } from "../../base/index.js";
import { EpisodeError } from "../../episode/index.js";
import { folderDigest } from "../../tasks/index.js";

export const BUILD_LABEL = "dev.holdfast.task";
const NAME = "holdfast-task";
const LAST_LINES = 2_000;
const MOST_IMAGES = 100;

export interface BuildOptions {
	/** With the Dockerfile. */
	readonly folder: string;
	readonly seconds: number;
	/** Address of the engine; default: as the `docker` command finds it. */
	readonly engine?: string | undefined;
	/** For the lock, so that two programs do not build the same image at once. */
	readonly locks: string;
	/** For the build's output. */
	readonly log: string;
	/** How many of our images the engine keeps. */
	readonly most?: number;
	readonly signal: AbortSignal;
}

const building = new Map<string, Promise<string>>();

/** Returns the name of the image. Throws `environment/build` with the last lines, or `environment/build_timeout`. */
export async function builtImage(options: BuildOptions): Promise<string> {
	const image = `${NAME}:${folderDigest(options.folder).slice(0, 32)}`;
	const key = `${options.engine ?? ""} ${image}`;
	const under = building.get(key) ?? once(image, key, options).finally(() => building.delete(key));
	building.set(key, under);
	return under;
}

async function once(image: string, key: string, options: BuildOptions): Promise<string> {
	ensureDir(options.locks);
	const lock = path.join(options.locks, createHash("sha256").update(key).digest("hex").slice(0, 16));
	return withClaim(
		lock,
		"image build",
		async () => {
			if ((await docker(["tag", image, image], options)).code === 0) return image; // it is there, and was used now
			const label = `${BUILD_LABEL}=${image.split(":")[1]}`;
			const { code, text } = await docker(["build", "--label", label, "--tag", image, options.folder], options);
			fs.writeFileSync(options.log, text, { mode: 0o600 });
			if (code === 0) return forgetOld(options).then(() => image);
			throw new EpisodeError("environment", "build", `the image of ${options.folder} could not be built (exit code ${code}):\n${text.slice(-LAST_LINES)}`, {
				again: true,
			});
		},
		options.signal,
	);
}

/** Only images with our label, and none that a container has: the engine itself refuses to remove it. */
async function forgetOld(options: BuildOptions): Promise<void> {
	const ours = await docker(["image", "ls", "--filter", `label=${BUILD_LABEL}`, "--format", "{{.Repository}}:{{.Tag}}", NAME], options);
	const names = ours.text.split("\n").filter((line) => line.startsWith(`${NAME}:`));
	const { most = MOST_IMAGES } = options;
	if (names.length <= most) return;
	const looked = await docker(["image", "inspect", "--format", "{{json .Metadata.LastTagTime}} {{index .RepoTags 0}}", ...names], options);
	const used = looked.text.split("\n").flatMap((line) => {
		const [, at = "", name = ""] = /^"(\S+)" (\S+)$/.exec(line) ?? [];
		return names.includes(name) ? [{ name, at: Date.parse(at) }] : [];
	});
	const newest = used.sort((a, b) => b.at - a.at);
	for (const { name } of newest.slice(most)) await docker(["image", "rm", name], options);
}

/** Runs the `docker` command under the time limit of the build. */
function docker(args: readonly string[], { engine, seconds, signal }: BuildOptions): Promise<{ code: number | null; text: string }> {
	return new Promise((resolve, reject) => {
		const limit = anySignal([signal, AbortSignal.timeout(seconds * 1_000)]);
		const child = spawn("docker", [...(engine === undefined ? [] : ["--host", engine]), ...args], {
			stdio: ["ignore", "pipe", "pipe"],
			signal: limit,
			killSignal: "SIGKILL",
		});
		let text = "";
		const take = (piece: Buffer): void => {
			text = (text + piece.toString("utf8")).slice(-1024 * 1024);
		};
		child.stdout.on("data", take);
		child.stderr.on("data", take);
		child.once("error", (error: NodeJS.ErrnoException) => {
			if (signal.aborted) reject(new EpisodeError("runner", "stopped", "the run was stopped", { again: true }));
			else if (limit.aborted)
				reject(new EpisodeError("environment", "build_timeout", `the image was not built within ${seconds} s (environment.build_timeout_sec)`));
			else if (error.code === "ENOENT")
				reject(new EpisodeError("environment", "build", "this task builds its image, which needs the `docker` command; install it (docker.io, docker-cli)"));
			else reject(error);
		});
		child.once("close", (code) => resolve({ code, text }));
	});
}
