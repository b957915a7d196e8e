/**
 * The private directory in a running container. Its user may not be able to create one, and we do not run commands as root inside, since the
 * container's programs are not ours. So the engine adds a world-writable directory, and the user creates a private one in it.
 */
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import { tarOf } from "../files/index.js";
import { containers } from "./api.js";
import { parseArguments } from "./arguments.js";
import { BASE_DIR, type ExecUser, guestHome, privateDir, SHARED_DIR } from "./body.js";
import type { Engine } from "./engine.js";
import { runExec } from "./exec.js";
import { reasonOf, statusOf } from "./explain.js";
import type { DockerSettings } from "./options.js";

/** Completes the directory before it gets its name: another program may do the same at this moment. Refuses one that another user has made. */
const MAKE = `
umask 077; d=$1 t=$1.$$
mine() { [ -d "$d/busy" ] && [ ! -L "$d" ] && [ -O "$d" ]; }
mine && exit 0
mkdir -p "$t/busy" && true >"$t/life" && true >"$t/seen" || exit
mv -T "$t" "$d" 2>/dev/null || { rm -r "$t"; mine; }`;

export async function prepare(engine: Engine, container: string, settings: DockerSettings, as: ExecUser, signal: AbortSignal | undefined): Promise<void> {
	const dir = privateDir(as);
	// Beside the container's own user, another user could have made it.
	if (as.user === undefined && (await isThere(engine, container, dir, signal))) return;
	const home = guestHome(settings);
	// The root may be read-only; then a volume exists, and every path has to start from it.
	const base = parseArguments(settings.arguments).readOnly ? BASE_DIR : "/";
	const directory = (dir: string, mode: number) => ({ kind: "directory", name: path.relative(base, dir), mode }) as const;
	const archive = tarOf([
		directory(BASE_DIR, 0o755),
		directory(SHARED_DIR, 0o1777),
		...(home === undefined ? [] : [{ ...directory(home, 0o700), uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }]),
	]);
	await engine.call("preparing the container", containers.unpack(container, base, archive), { signal });
	const { code, text } = await runExec(engine, container, { argv: ["sh", "-c", MAKE, "holdfast", dir], ...as, signal }).catch((error) => {
		throw as.user !== undefined && isNoUser(reasonOf(error)) ? noUser(as.user, settings, error) : error;
	});
	if (code !== 0 && as.user !== undefined && isNoUser(text)) throw noUser(as.user, settings);
	if (code !== 0)
		throw new HoldfastError(
			"START_FAILED",
			`there is no place for Holdfast's own files in the container: ${dir} could not be made${code === null ? "" : ` (exit code ${code})`}${text && `: ${text}`}`,
		);
}

/** Messages of engines when the container has no such user or group: some as an error, some in place of the command's output. */
const isNoUser = (text: string): boolean => /unable to find (user|group)|no matching entries in (passwd|group)/.test(text);

const noUser = (user: string, { image, container }: DockerSettings, cause?: unknown): HoldfastError =>
	new HoldfastError(
		"START_FAILED",
		`there is no user ${JSON.stringify(user)} in ${container === undefined ? image : `the container ${container}`}; name one that is in its /etc/passwd, or an id, or leave it out`,
		{ cause },
	);

/** Creates the requested directory if it is missing, owned by the user if that user can be determined. */
export async function ensureWorkdir(engine: Engine, container: string, workdir: string, user: string, signal: AbortSignal | undefined): Promise<void> {
	if (await isThere(engine, container, workdir, signal)) return;
	// Tries inside first: the engine cannot see an in-memory directory (/tmp).
	if ((await runExec(engine, container, { argv: ["mkdir", "-p", "--", workdir], signal })).code === 0) return;
	const [uid = "0", gid = uid] = /^\d+(:\d+)?$/.test(user) ? user.split(":") : [];
	const archive = tarOf([{ kind: "directory", name: path.relative("/", workdir), mode: 0o755, uid: Number(uid), gid: Number(gid) }]);
	try {
		await engine.call("preparing the container", containers.unpack(container, "/", archive), { signal });
	} catch (error) {
		if (statusOf(error) === undefined) throw error;
		throw new HoldfastError("NO_DIRECTORY", `there is no directory ${workdir} in the container, and it cannot be made (${reasonOf(error)}); choose another`, {
			cause: error,
		});
	}
}

/** Asks the engine: cheaper than a command inside. */
async function isThere(engine: Engine, container: string, file: string, signal: AbortSignal | undefined): Promise<boolean> {
	try {
		await engine.call("looking into the container", containers.stat(container, file), { signal });
		return true;
	} catch (error) {
		if (statusOf(error) === undefined) throw error;
		return false; // the engine cannot tell: the command finds out
	}
}
