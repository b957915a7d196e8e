/** `/here:/there[:ro]`: a directory or file of the engine's machine in a container. */
import os from "node:os";
import path from "node:path";
import { HoldfastError } from "../../base/errors.js";
import { realPath, statIfThere } from "../../base/files.js";
import { directoryProblem } from "./address.js";

export interface Volume {
	readonly source: string;
	readonly target: string;
	readonly readOnly: boolean;
}

export function parseVolume(text: string): Volume {
	const refuse = (why: string): never => {
		throw new HoldfastError("INVALID", `the volume ${JSON.stringify(text.slice(0, 300))} cannot be used: ${why}; write "/here:/there" or "/here:/there:ro"`);
	};
	const [source, target, mode, ...more] = text.split(":") as [string, ...string[]];
	if (text.includes("\0")) return refuse("it contains a NUL byte");
	if (more.length > 0) return refuse("it has too many colons, and a path with a colon in it cannot be given this way");
	if (target === undefined || source === "" || target === "") return refuse("it takes a path here and a path in the container, with a colon between them");
	if (!path.isAbsolute(source)) return refuse(`the path here must be absolute, ${JSON.stringify(source)} is not (names of volumes are not taken)`);
	const wrong = directoryProblem(target);
	if (wrong !== undefined) return refuse(`the path in the container ${wrong}`);
	const there = path.posix.normalize(target).replace(/(.)\/$/, "$1");
	if (there === "/") return refuse("the root of the container cannot be replaced");
	if (mode !== undefined && mode !== "ro" && mode !== "rw") return refuse(`behind the second colon comes "ro" or "rw", not ${JSON.stringify(mode)}`);
	return { source: path.normalize(source), target: there, readOnly: mode === "ro" };
}

/** What can only be looked at where the engine is on this machine. Whoever is in a container must not reach Holdfast's own files. */
export function checkVolumes(volumes: readonly Volume[], home: string): void {
	for (const { source } of volumes) {
		if (statIfThere(source) === undefined)
			throw new HoldfastError("INVALID", `the volume ${source} cannot be used: there is no such directory here; make it, or correct the path`);
		if (path.isAbsolute(home) && within(realPath(home), realPath(source)))
			throw new HoldfastError(
				"INVALID",
				`the volume ${source} cannot be used: Holdfast's own files are in it (${home}); name the directories in it that are needed`,
			);
	}
}

const SYSTEM = ["/etc", "/run", "/var/run", "/proc", "/sys", "/dev", "/boot", "/root", "/usr", "/bin", "/sbin", "/lib", "/var/lib"];

/**
 * Whether commands in the container can do harm through it to the machine of the person: it shows their home or hidden files in it (keys, start-up files),
 * a directory of the system, or a socket, such as the engine's own.
 */
export function exposesHost({ source }: Volume, home = os.homedir()): boolean {
	const [file, own] = [realPath(source), realPath(home)];
	if (within(own, file) || SYSTEM.some((dir) => within(file, dir) || within(dir, file))) return true;
	if (
		within(file, own) &&
		path
			.relative(own, file)
			.split("/")
			.some((name) => name.startsWith("."))
	)
		return true;
	return statIfThere(file)?.isSocket() === true || file.endsWith(".sock");
}

function within(file: string, dir: string): boolean {
	const relative = path.relative(dir, file);
	return relative === "" || !(relative === ".." || relative.startsWith("../"));
}
