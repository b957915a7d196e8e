/**
 * The private directory in a container that runs. Its user may not be able to make one, and root in there is not asked to: what it would
 * run is not ours. So the engine puts a directory for everybody there, and the user makes his own in it.
 */
import path from "node:path";
import type { Readable } from "node:stream";
import type { Container } from "dockerode";
import { HoldfastError } from "../../base/errors.js";
import { parseArguments } from "./arguments.js";
import { BASE_DIR, guestHome, PRIVATE_DIR, SHARED_DIR } from "./body.js";
import { type Engine, reasonOf, statusOf } from "./engine.js";
import { runExec } from "./exec.js";
import type { DockerSettings } from "./options.js";
import { tarOfDirectories } from "./tar.js";

/** Complete before it has its name: another program may come at the same moment. */
const MAKE = `
umask 077; d=$1 t=$1.$$
[ -d "$d/busy" ] && exit 0
mkdir -p "$t/busy" && true >"$t/life" && true >"$t/seen" || exit
mv -T "$t" "$d" 2>/dev/null || { rm -r "$t"; [ -d "$d/busy" ]; }`;

export async function prepare(engine: Engine, container: Container, settings: DockerSettings, signal: AbortSignal | undefined): Promise<void> {
	if (await isThere(engine, container, PRIVATE_DIR, signal)) return;
	const home = guestHome(settings);
	// The root may be read-only; then there is a volume, and everything has to be named from there.
	const base = parseArguments(settings.arguments).readOnly ? BASE_DIR : "/";
	const archive = tarOfDirectories([
		{ path: path.relative(base, BASE_DIR), mode: 0o755, uid: 0, gid: 0 },
		{ path: path.relative(base, SHARED_DIR), mode: 0o1777, uid: 0, gid: 0 },
		...(home === undefined ? [] : [{ path: path.relative(base, home), mode: 0o700, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }]),
	]);
	await engine.call("preparing the container", (abortSignal) => container.putArchive(archive, { path: base, abortSignal }), { signal });
	const { code, text } = await runExec(engine, container, { argv: ["sh", "-c", MAKE, "holdfast", PRIVATE_DIR], signal });
	if (code !== 0)
		throw new HoldfastError(
			"START_FAILED",
			`there is no place for Holdfast's own files in the container: ${PRIVATE_DIR} could not be made${code === null ? "" : ` (exit code ${code})`}${text && `: ${text}`}`,
		);
}

/** The directory that was asked for; made if there is none, for the user if it can be told who that is. */
export async function ensureWorkdir(engine: Engine, container: Container, workdir: string, user: string, signal: AbortSignal | undefined): Promise<void> {
	if (await isThere(engine, container, workdir, signal)) return;
	// In there first: what is in memory (/tmp) cannot be seen from outside.
	if ((await runExec(engine, container, { argv: ["mkdir", "-p", "--", workdir], signal })).code === 0) return;
	const [uid = "0", gid = uid] = /^\d+(:\d+)?$/.test(user) ? user.split(":") : [];
	const archive = tarOfDirectories([{ path: path.relative("/", workdir), mode: 0o755, uid: Number(uid), gid: Number(gid) }]);
	try {
		await engine.call("preparing the container", (abortSignal) => container.putArchive(archive, { path: "/", abortSignal }), { signal });
	} catch (error) {
		if (statusOf(error) === undefined) throw error;
		throw new HoldfastError("NO_DIRECTORY", `there is no directory ${workdir} in the container, and it cannot be made (${reasonOf(error)}); choose another`, {
			cause: error,
		});
	}
}

/** A look from outside is cheaper than a command inside. */
async function isThere(engine: Engine, container: Container, file: string, signal: AbortSignal | undefined): Promise<boolean> {
	try {
		const answer = await engine.call("looking into the container", (abortSignal) => container.infoArchive({ path: file, abortSignal }), { signal });
		(answer as Readable).destroy(); // a stream that nobody reads would keep this program alive
		return true;
	} catch (error) {
		if (statusOf(error) === undefined) throw error;
		return false; // an engine that cannot tell: the command finds out
	}
}
