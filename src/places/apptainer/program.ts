/** The `apptainer` program, or `singularity` under its older name. */
import { findProgram, type Program, programEnvironment, type Ran, type RunOptions, runProgram } from "../child.js";

const MISSING =
	"install Apptainer (Debian and Ubuntu: the package apptainer; Fedora: apptainer; on a cluster often: module load apptainer), or start Holdfast where it is";

/** The variables for flags that belong to the user; the others (binds, overlays, rights) would change the request. */
const THEIRS = /^(APPTAINER|SINGULARITY)_(CACHEDIR|CONFIGDIR|DOCKER_USERNAME|KEYSDIR)$/;
const FLAGS = /^(APPTAINER|SINGULARITY)(ENV)?_/;

/** `temporary`: where images are unpacked during a build; that takes two or three times their size. */
export function apptainerProgram(temporary?: string): Program {
	const env = programEnvironment();
	for (const name of Object.keys(env)) if (FLAGS.test(name) && !THEIRS.test(name)) delete env[name];
	if (temporary !== undefined) for (const name of ["APPTAINER", "SINGULARITY"]) env[`${name}_TMPDIR`] = temporary;
	return { name: findProgram(["apptainer", "singularity"], env.PATH) ?? "apptainer", missing: MISSING, env };
}

const RUN_MS = 60_000;

export const runApptainer = (program: Program, args: readonly string[], options: Partial<RunOptions> = {}): Promise<Ran> =>
	runProgram(program, args, { ms: RUN_MS, ...options });
