/** Directories of a remote machine. */
import { HoldfastError, type Kernel, shellQuote } from "../../base/index.js";
import type { Reach } from "./reach.js";

/** Returns the directory that a process is in. A directory that was removed has its last name. */
export async function remoteDirectoryOf(kernel: Kernel, pid: number): Promise<string | undefined> {
	const [cwd] = await kernel.links([`/proc/${pid}/cwd`]);
	return cwd?.replace(/ \(deleted\)$/, "");
}

/** Throws if it is no remote directory. `cwd` is that of the shell. */
export async function checkRemoteDirectory(reach: Reach, dir: string, cwd: string): Promise<void> {
	const at = shellQuote(dir);
	const { status } = await reach.run(`[ -d ${at} ] && exit ${IS_DIRECTORY}; [ -e ${at} ] || [ -L ${at} ] && exit ${IS_OTHER}; exit ${IS_MISSING}`);
	if (status === IS_MISSING)
		throw new HoldfastError(
			"INVALID",
			`the working directory ${dir} does not exist on ${reach.name}; nothing ran, so make it first or give one that exists there (without workdir a command runs in the shell's directory, ${cwd})`,
		);
	if (status === IS_OTHER) throw new HoldfastError("INVALID", `the working directory ${dir} is not a directory; nothing ran, so give one that is`);
}

const [IS_DIRECTORY, IS_MISSING, IS_OTHER] = [0, 2, 3];
