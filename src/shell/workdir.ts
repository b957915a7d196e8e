/** The directory of one command on another machine. */
import { HoldfastError } from "../base/errors.js";
import { shellQuote } from "../base/quote.js";
import type { Box } from "../places/far/box.js";
import { directoryThere } from "../places/foreign.js";

/** Absolute. A path of this machine that is not there gives way to the shell's directory, and the note says so; any other has to be there. */
export async function workdirThere(asked: string, { cwd, box }: { readonly cwd: string; readonly box: Box }): Promise<{ dir: string; note?: string }> {
	const found = await directoryThere(asked, { place: box.name, cwd, exists: async (dir) => (await look(box, dir)) === IS_DIRECTORY });
	if (found.note !== undefined) return found;
	const status = await look(box, found.dir);
	if (status === IS_MISSING)
		throw new HoldfastError(
			"INVALID",
			`the working directory ${found.dir} does not exist on ${box.name}; nothing ran, so make it first or give one that exists`,
		);
	if (status === IS_OTHER) throw new HoldfastError("INVALID", `the working directory ${found.dir} is not a directory; nothing ran, so give one that is`);
	return found;
}

const [IS_DIRECTORY, IS_MISSING, IS_OTHER] = [0, 2, 3];

async function look(box: Box, dir: string): Promise<number> {
	const at = shellQuote(dir);
	const { status } = await box.run(`[ -d ${at} ] && exit ${IS_DIRECTORY}; [ -e ${at} ] || [ -L ${at} ] && exit ${IS_OTHER}; exit ${IS_MISSING}`);
	return status;
}
