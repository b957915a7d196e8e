/** `/here:/there[:ro]`: a directory or file of the engine's machine in a container. */
import path from "node:path";
import { HoldfastError, realPath, statIfThere } from "../base/index.js";
import { isWithin } from "./exposure.js";
import { directoryProblem } from "./image-name.js";

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

/** Checks volumes of an engine on this machine: programs in a container must not reach Holdfast's own files. */
export function checkVolumes(volumes: readonly Volume[], home: string): void {
	for (const { source } of volumes) {
		if (statIfThere(source) === undefined)
			throw new HoldfastError("INVALID", `the volume ${source} cannot be used: there is no such directory here; make it, or correct the path`);
		if (path.isAbsolute(home) && isWithin(realPath(home), realPath(source)))
			throw new HoldfastError(
				"INVALID",
				`the volume ${source} cannot be used: Holdfast's own files are in it (${home}); name the directories in it that are needed`,
			);
	}
}
