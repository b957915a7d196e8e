/** The one job of a task: found by its name, submitted, looked at, cancelled. */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { asset, HoldfastError, shellQuote } from "../../base/index.js";
import type { HostOwner } from "../kind.js";
import { digest, machineName } from "../owner.js";
import { type OwnerFiles, ownerFiles } from "../owner-files.js";
import { switchSeconds } from "../settings.js";
import { switchScript } from "../switch.js";
import type { SlurmSettings } from "./options.js";
import { slurm } from "./program.js";
import { GONE, type LastOfJob } from "./words.js";

export interface Job {
	readonly id: string;
	readonly name: string;
	readonly state: string;
	/** For a pending job: all partitions that it may run in, separated by commas. */
	readonly partition: string;
	/** As Slurm writes times. A number alone is no identity: a controller that lost its state gives it again. */
	readonly submitted: string;
	readonly started: string;
	/** Seconds; undefined: no limit. */
	readonly left: number | undefined;
	readonly reason: string;
	readonly comment: string;
}

const FORMAT = "%i|%j|%T|%P|%V|%S|%L|%r|%k";
/** Not over, and not on its way to that. */
export const LIVING = ["PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"];

export async function listJobs(name: string | undefined, signal?: AbortSignal): Promise<Job[]> {
	const { output } = await slurm("squeue", ["--me", "-h", "-a", ...(name === undefined ? [] : ["-n", name]), "-o", FORMAT], { signal });
	return output
		.split("\n")
		.filter(Boolean)
		.map((line) => {
			const [id = "", job = "", state = "", partition = "", submitted = "", started = "", left = "", reason = "", ...comment] = line.split("|");
			return { id, name: job, state, partition, submitted, started, left: secondsOf(left), reason, comment: comment.join("|") };
		});
}

/** Returns the oldest of them that is not over. */
export const findJob = async (name: string, signal?: AbortSignal): Promise<Job | undefined> =>
	(await listJobs(name, signal)).filter(({ state }) => LIVING.includes(state)).sort((a, b) => Number(a.id) - Number(b.id))[0];

/** The place of a job among those that wait for its partition, in the order in which the scheduler looks at them. */
export interface QueuePlace {
	readonly at: number;
	readonly of: number;
}

/** Returns undefined if the job does not wait any more. A site may show a user only the user's own jobs: these are those that squeue shows. */
export async function queuePlace({ id, partition }: Job, signal?: AbortSignal): Promise<QueuePlace | undefined> {
	const { output } = await slurm("squeue", ["-h", "-a", "-t", "PENDING", "-p", partition, "--sort=-p,i", "-o", "%i"], { signal });
	const ids = output.split("\n").filter(Boolean);
	const at = ids.indexOf(id) + 1;
	return at === 0 ? undefined : { at, of: ids.length };
}

/** `1-02:03:04`, `02:03:04`, `03:04`; undefined where there is no limit. */
function secondsOf(text: string): number | undefined {
	const [, days = "0", rest] = /^(?:(\d+)-)?([\d:]+)$/.exec(text) ?? [];
	if (rest === undefined) return undefined;
	return rest.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
}

const SETTLE_LOOKS = 15;

/** Returns how a job has ended, as far as the controller still knows; it forgets after some minutes. Waits a moment for one that is just ending: before that it does not say how. */
export async function lastOf(id: string, submitted?: string, signal?: AbortSignal): Promise<LastOfJob | undefined> {
	for (let look = 0; ; look++) {
		const last = await lookAt(id, submitted, signal);
		if (last?.state !== "COMPLETING" || look === SETTLE_LOOKS || signal?.aborted) return last;
		await sleep(200);
	}
}

async function lookAt(id: string, submitted: string | undefined, signal: AbortSignal | undefined): Promise<LastOfJob | undefined> {
	const { output } = await slurm("scontrol", ["show", "job", "-o", id], { signal, tolerate: GONE });
	const field = (name: string) => new RegExp(`(?:^| )${name}=(\\S*)`).exec(output)?.[1] ?? "";
	if (field("JobId") !== id || (submitted !== undefined && field("SubmitTime") !== submitted)) return undefined;
	return { state: field("JobState"), reason: field("Reason"), code: Number.parseInt(field("ExitCode"), 10) || 0 };
}

let scripts: { readonly holder: string; readonly relay: string } | undefined;
export function jobScripts(): { readonly holder: string; readonly relay: string } {
	const text = (name: string) => fs.readFileSync(asset(`places/slurm/${name}`), "utf8").replace(/^\s*#.*\n/gm, "");
	scripts ??= { holder: text("holder.sh"), relay: text("relay.sh") };
	return scripts;
}

/** Returns the id of the new job. There is nothing secret in it: script and comment can be read by others. */
export async function submit(settings: SlurmSettings, owner: HostOwner): Promise<string> {
	const { partition, account, qos, time, cpus, memory, gpus, constraint, reservation, setup, scratch, lifetime } = settings;
	const flags = { partition, account, qos, constraint, reservation, ...(gpus === undefined ? {} : { gpus: String(gpus) }) };
	const args = [
		...[
			"--parsable",
			"--no-requeue",
			"--export=NONE",
			"--nodes=1",
			"--ntasks=1",
			`--job-name=${machineName(owner)}`,
			`--comment=${commentOf(owner, settings)}`,
		],
		...[`--time=${time}`, `--cpus-per-task=${cpus}`, "--output=/dev/null", "--chdir=/"],
		...(memory === undefined ? [] : [`--mem=${Math.ceil(memory / 1024 ** 2)}M`]),
		...Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
	];
	const words = [jobScripts().holder, "holdfast", scratch, String(switchSeconds(lifetime)), switchScript()].map(shellQuote).join(" ");
	// A login shell has what `setup` is about: `module`.
	const input = `#!/bin/${setup === undefined ? "sh" : "bash -l"}\n${setup ?? ""}\nPATH=\${PATH:-/usr/local/bin:/usr/bin:/bin}; export PATH\nexec sh -c ${words}\n`;
	const { output } = await slurm("sbatch", args, { input, ms: 60_000 });
	const id = /^(\d+)/.exec(output.trim())?.[1];
	if (id === undefined) throw new HoldfastError("START_FAILED", `sbatch did not say the number of the job: ${JSON.stringify(output.slice(0, 100))}`);
	return id;
}

export async function cancel(id: string): Promise<void> {
	await slurm("scancel", [id], { tolerate: GONE });
}

/** Returns a digest of the settings that make one job different from another. */
export function madeWith({ workdir: _workdir, environment: _environment, ...settings }: SlurmSettings): string {
	return digest(settings, 12);
}

const commentOf = ({ home, task }: HostOwner, settings: SlurmSettings): string =>
	`holdfast home=${digest(home, 12)} task=${digest(task, 12)} settings=${madeWith(settings)}`;

export const settingsIn = (comment: string): string | undefined => /^holdfast .*\bsettings=([0-9a-f]{12})/.exec(comment)?.[1];

/** The owners of jobs, kept in files: the comment of a job has only digests. */
export const jobOwners = (): OwnerFiles => ownerFiles("jobs");
