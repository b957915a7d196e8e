/** The directory of one command on another machine. */
import path from "node:path";
import { HoldfastError } from "../base/errors.js";
import { shellQuote } from "../base/quote.js";
import type { Box } from "../places/far/box.js";

/** Returns the absolute path of `asked`, from the shell's directory. Throws if it is not a directory there. */
export async function workdirThere(asked: string, { cwd, box }: { readonly cwd: string; readonly box: Box }): Promise<string> {
	const dir = path.posix.resolve(cwd, asked);
	const at = shellQuote(dir);
	const { status } = await box.run(`[ -d ${at} ] && exit ${IS_DIRECTORY}; [ -e ${at} ] || [ -L ${at} ] && exit ${IS_OTHER}; exit ${IS_MISSING}`);
	if (status === IS_MISSING)
		throw new HoldfastError(
			"INVALID",
			`the working directory ${dir} does not exist on ${box.name}; nothing ran, so make it first or give one that exists there (without workdir a command runs in the shell's directory, ${cwd})`,
		);
	if (status === IS_OTHER) throw new HoldfastError("INVALID", `the working directory ${dir} is not a directory; nothing ran, so give one that is`);
	return dir;
}

const [IS_DIRECTORY, IS_MISSING, IS_OTHER] = [0, 2, 3];
