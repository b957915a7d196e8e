/** Explains errors of Slurm, and what a person can do about them. */
import { HoldfastError } from "../../base/index.js";
import { plain } from "../child.js";
import { SWITCH_EXIT } from "../switch.js";
import type { Job, QueuePlace } from "./job.js";

/** How a job has ended, as far as the controller knows. */
export interface LastOfJob {
	readonly state: string;
	readonly reason: string;
	/** The exit code of the job's script: holder.sh says what its own mean. */
	readonly code: number;
}

/** Its last complaint, without the name of the program in front. */
export const complaint = (said: string): string => {
	const lines = said
		.split("\n")
		.map(plain)
		.filter((line) => line !== "" && !/task \d+: Exited with exit code|Terminating StepId|Job step aborted/.test(line));
	const error = lines.findLast((line) => /error:/i.test(line)) ?? lines.at(-1) ?? "it said nothing";
	return error.replace(/^(sbatch|squeue|srun|scancel|scontrol|sinfo|slurmstepd|FATAL|ERROR):\s*(error:\s*)?/i, "").slice(0, 500);
};

export const GONE = /Invalid job id specified|has expired|Job\/step already completing or completed|No jobs in the system/i;

const CASES: readonly (readonly [RegExp, "UNREACHABLE" | "START_FAILED" | "LIMIT" | "DENIED", string])[] = [
	[
		/Unable to contact slurm controller|Zero Bytes were transmitted|Connection refused|Socket timed out|Connection timed out/i,
		"UNREACHABLE",
		"Slurm's controller does not answer; what runs goes on",
	],
	[/Invalid partition name/i, "START_FAILED", "there is no such partition; `sinfo` lists them"],
	[
		/Invalid account|account\/partition combination/i,
		"START_FAILED",
		"the account is not one of yours, or may not use this partition; see `sacctmgr show associations user=$USER`, and set `account`",
	],
	[/Invalid qos/i, "START_FAILED", "there is no such quality of service for you; see `sacctmgr show qos`"],
	[
		/Requested node configuration is not available|Memory specification can not be satisfied|CPU count per node can not be satisfied|Requested partition configuration not available/i,
		"START_FAILED",
		"no node of the partition has what was asked for; ask for less (`cpus`, `memory`, `gpus`, `constraint`), or use another partition",
	],
	[/Requested time limit is invalid/i, "START_FAILED", "the partition does not allow so much time; lower `time`"],
	[/QOS\w*Limit|AssocMax|Job violates accounting\/QOS policy|submit limit/i, "LIMIT", "a limit of yours is reached; wait for other jobs, or ask for less"],
	[/Access\/permission denied|User's group not permitted/i, "DENIED", "you may not use this partition or job"],
	[/Invalid generic resource/i, "START_FAILED", "there are no such GPUs; `sinfo -o %G` lists them"],
	[
		/configuration source|Unable to process configuration|slurm\.conf/i,
		"START_FAILED",
		"this machine has no configuration of a Slurm cluster; start Holdfast on a login node, or set SLURM_CONF",
	],
	[/Protocol authentication error|munge/i, "UNREACHABLE", "this machine is not known to the cluster, or munge does not run here"],
];

export function explained(doing: string, said: string): HoldfastError {
	const words = complaint(said);
	const [, code = "START_FAILED", advice] = CASES.find(([pattern]) => pattern.test(said)) ?? [];
	return new HoldfastError(code, advice === undefined ? `${doing}: ${words}` : `${advice} (${words})`);
}

/** Exit codes of holder.sh. */
const NO_SCRATCH = 73;
const CONTAINER_ENDED = 76;

/** Returns true if another job would end the same way. */
export const isHopeless = (last: LastOfJob | undefined): boolean => last?.state === "FAILED" && last.code === NO_SCRATCH;

/** Why a job has ended, as the rest of a sentence. */
export function endOfJob(id: string, { state, reason, code }: LastOfJob): string {
	const job = `the Slurm job ${id}`;
	if (state === "FAILED" && code === NO_SCRATCH)
		return `${job} could not make its directory on its node; set \`scratch\` to a directory of the node that you may write to`;
	if (state === "FAILED" && code === SWITCH_EXIT) return `${job} had stopped itself: it was unused, and nothing ran in it`;
	if (state === "FAILED" && code === CONTAINER_ENDED) return `the container in ${job} has ended, and the job with it`;
	switch (state.split(" ")[0]) {
		case "TIMEOUT":
		case "DEADLINE":
			return `${job} had reached its time limit`;
		case "CANCELLED":
			return `${job} was cancelled`;
		case "NODE_FAIL":
		case "BOOT_FAIL":
			return `the node of ${job} failed`;
		case "OUT_OF_MEMORY":
			return `${job} had run out of memory`;
		case "PREEMPTED":
			return `${job} was preempted by another`;
		case "FAILED":
		case "COMPLETED":
			return `${job} has ended${code === 0 ? "" : ` (exit code ${code})`}`;
		default:
			return `${job} is over (${state}${reason && reason !== "None" ? `, ${reason}` : ""})`;
	}
}

const WAITS: Readonly<Record<string, string>> = {
	None: "until the scheduler has looked at it",
	Resources: "for a node that has room",
	Priority: "behind jobs of higher priority",
	Dependency: "for another job",
	PartitionTimeLimit: "because its time is more than the partition allows; lower `time`",
	PartitionNodeLimit: "because the partition does not have so many nodes",
	PartitionDown: "for its partition, which is down",
	PartitionInactive: "for its partition, which is not active",
	ReqNodeNotAvail: "for a node that is down or reserved",
	Licenses: "for a licence",
	BeginTime: "for its time to begin",
	JobHeldAdmin: "because an administrator holds it",
	JobHeldUser: "because it is held; see `scontrol release`",
};

/** Returns whether a job waits for its turn; with any other reason its place in the queue decides nothing. */
export const waitsItsTurn = (reason: string): boolean => reason === "Resources" || reason === "Priority";

/** Returns what a job waits for, as a sentence without its end. */
export function waiting({ id, state, reason, partition, started: start }: Job, place?: QueuePlace): string {
	if (state === "CONFIGURING") return `job ${id} has a node, which is being made ready`;
	if (state === "SUSPENDED") return `job ${id} is suspended`;
	const why = WAITS[reason] ?? (/^(QOS|Assoc)/.test(reason) ? `for a limit of yours or of your account (${reason})` : `(${reason})`);
	const turn = place === undefined ? "" : `, as number ${place.at} of the ${place.of} that squeue shows waiting for ${partition}`;
	const expected = /^\d{4}-/.test(start) ? `; Slurm expects it to start at ${start.replace("T", " ")}` : "";
	return `job ${id} waits in the queue ${why}${turn}${expected}`;
}
