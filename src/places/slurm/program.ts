/** The programs of Slurm: sbatch, squeue, scontrol, scancel, srun. */
import { HoldfastError } from "../../base/index.js";
import { type Program, programEnvironment, type Ran, type RunOptions, runProgram } from "../child.js";
import { explained } from "./words.js";

const MISSING = "this has to be a machine of the cluster from which jobs are submitted: start Holdfast on a login node";

/** The variables that name the cluster. Other variables, set by a job that this program runs in, would change the request. */
const THEIRS = /^SLURM_(CONF|CONF_SERVER|CLUSTERS)$/;

export function slurmProgram(name: string): Program {
	const env = programEnvironment({ SLURM_TIME_FORMAT: "standard" });
	for (const one of Object.keys(env)) if (/^(SLURM|SBATCH|SRUN|SQUEUE|SCANCEL)_/.test(one) && !THEIRS.test(one) && one !== "SLURM_TIME_FORMAT") delete env[one];
	return { name, missing: MISSING, env };
}

const ANSWER_MS = 20_000;

/** Throws, with what to do, if it fails and `tolerate` does not take what it says. */
export async function slurm(name: string, args: readonly string[], options: Partial<RunOptions> & { tolerate?: RegExp } = {}): Promise<Ran> {
	const { tolerate, ...rest } = options;
	const ran = await runProgram(slurmProgram(name), args, { ms: ANSWER_MS, ...rest }).catch((error) => {
		if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE") throw error;
		throw new HoldfastError(
			"UNREACHABLE",
			`Slurm does not answer (${error.message}); see whether \`${name}\` works here, and what SLURM_CONF is. What runs goes on`,
			{
				cause: error,
			},
		);
	});
	if (ran.code === 0 || tolerate?.test(ran.said)) return ran;
	throw explained(`${name} failed`, ran.said);
}
