/** Jobs that Holdfast has submitted for this user, of every home. Each ends at its time limit at the latest. */
import { findProgram, programEnvironment } from "../child.js";
import type { Leftover, Leftovers, NamedPlace } from "../kind.js";
import { homeIsGone, MACHINE_NAME } from "../owner.js";
import { cancel, jobOwners, LIVING, listJobs } from "./job.js";

export async function wheres(named: readonly NamedPlace[]): ReturnType<Leftovers["wheres"]> {
	const there = findProgram(["squeue"], programEnvironment().PATH) !== undefined;
	return { notes: [], wheres: named.length > 0 || there ? [{ id: undefined, label: "Jobs of Slurm", quiet: named.length === 0 }] : [] };
}

export async function list(signal: AbortSignal): Promise<Leftover[]> {
	const jobs = await listJobs(undefined, signal);
	return jobs
		.filter(({ name, state }) => MACHINE_NAME.test(name) && LIVING.includes(state))
		.map((job) => {
			const owner = jobOwners().of(job.name);
			const at = (text: string) => (/^\d{4}-/.test(text) ? new Date(text).toISOString() : undefined);
			return {
				id: job.id,
				name: job.name,
				task: owner?.task ?? "",
				home: owner?.home ?? "",
				state: job.state.toLowerCase(),
				started_at: at(job.state === "RUNNING" ? job.started : job.submitted) ?? new Date(0).toISOString(),
				...(job.left === undefined || job.state !== "RUNNING" ? {} : { ends_at: new Date(Date.now() + job.left * 1000).toISOString() }),
				orphan: owner !== undefined && homeIsGone(owner) === true,
			};
		});
}

export async function remove(id: string): Promise<boolean> {
	const job = (await listJobs(undefined)).find((one) => one.id === id && MACHINE_NAME.test(one.name) && LIVING.includes(one.state));
	if (!job) return false;
	await cancel(job.id);
	jobOwners().forget(job.name);
	return true;
}
