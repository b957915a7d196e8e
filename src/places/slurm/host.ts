/** A task's own job of Slurm as a place. The job starts things, steps only relay bytes. docs/places.md. */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureDir, HoldfastError, Lease, shellQuote } from "../../base/index.js";
import { FETCHING, WAITING } from "../apptainer/fetch.js";
import { childStream, plain, startChild } from "../child.js";
import type { Host, Over, Started, Stream } from "../host.js";
import type { HostHooks, HostOwner } from "../kind.js";
import { IDLE } from "../lives.js";
import { digest, machineName } from "../owner.js";
import { notYet, pauseUnlessGivenUp } from "../pending.js";
import { exportText } from "../settings.js";
import { slurmAddress } from "./address.js";
import { enterText, innerStart } from "./inner.js";
import { cancel, findJob, type Job, jobOwners, jobScripts, lastOf, madeWith, queuePlace, settingsIn, submit } from "./job.js";
import { type SlurmOptions, type SlurmSettings, slurmSettings } from "./options.js";
import { slurm, slurmProgram } from "./program.js";
import { complaint, endOfJob, explained, isHopeless, waiting, waitsItsTurn } from "./words.js";

/** How long a start waits for the queue before it says so. Sites do not want to be asked often. */
const PATIENCE_MS = 60_000;
const LOOKS_MS = [200, 300, 500, 1_000, 2_000, 5_000];
const LOOK_MS = 10_000;
const PREPARE_MS = 120_000;

export function slurmHost(options: SlurmOptions, owner: HostOwner, hooks: HostHooks = {}): Host {
	const settings = slurmSettings(options);
	const name = machineName(owner);
	const address = slurmAddress(settings);
	const streams = new Set<Stream>();
	let now: Job | undefined;
	let prepared: string | undefined;

	/** Returns the job, submitted if there is none. Two programs that come at once have one: the oldest stays. */
	const find = async (signal: AbortSignal | undefined): Promise<Job> => {
		const found = await findJob(name, signal);
		if (found) return mustFit(found, settings);
		const lease = await leaseOf(owner, signal);
		try {
			const other = await findJob(name, signal);
			if (other) return mustFit(other, settings);
			jobOwners().remember(owner);
			// Not with the caller's signal: a job that is submitted all the same is found by its name.
			const id = await submit(settings, owner);
			hooks.progress?.(`job ${id} was submitted`);
			for (let look = 0; ; look++) {
				const first = await findJob(name);
				if (first && first.id !== id) await cancel(id); // of another host with the same home
				if (first) return first;
				if (look > 5) {
					const last = await lastOf(id).catch(() => undefined);
					if (last && isHopeless(last)) throw new HoldfastError("START_FAILED", endOfJob(id, last));
					throw new HoldfastError(
						"START_FAILED",
						`the Slurm job ${id} ended as soon as it was submitted${last ? ` (${last.state}, ${last.reason})` : ""}; see: scontrol show job ${id}`,
					);
				}
				await sleep(200);
			}
		} finally {
			lease.release();
		}
	};

	/** Returns the job once it runs. Throws PENDING if the queue takes longer; the job stays in it. */
	const running = async (signal: AbortSignal | undefined): Promise<Job> => {
		const until = performance.now() + (hooks.patienceMs ?? PATIENCE_MS);
		for (let look = 0; ; look++) {
			const job = await find(signal);
			if (job.state === "RUNNING") return job;
			const place = waitsItsTurn(job.reason) ? await queuePlace(job, signal).catch(() => undefined) : undefined; // without it, the rest is still true
			const words = waiting(job, place);
			hooks.progress?.(words);
			const pause = LOOKS_MS[look] ?? LOOK_MS;
			if (performance.now() + pause > until) throw notYet(address, words);
			await pauseUnlessGivenUp(pause, signal, address, `job ${job.id} stays in the queue`);
		}
	};

	/** A step that relays one command. */
	const step = (job: Job, command: string) =>
		startChild(slurmProgram("srun"), [
			...[`--jobid=${job.id}`, "--overlap", "-N1", "-n1", "--mem=0", "-u", "-Q", "--export=NONE", "--chdir=/"],
			...["/bin/sh", "-c", jobScripts().relay, "holdfast", settings.scratch, command],
		]);

	const openStream = async (job: Job, command: string): Promise<Stream> => {
		const child = childStream(await step(job, command), {
			why: async ({ code, signal }, said) => {
				if (/DUE TO TIME LIMIT/.test(said)) return endOfJob(job.id, { state: "TIMEOUT", reason: "", code: 0 });
				const fate = await fateOf(job).catch(() => undefined);
				if (fate !== undefined) return fate;
				if (signal !== null) return `srun was ended by ${signal}`;
				return `the command there ended with exit code ${code}${said ? ` and said "${plain(said).slice(-300)}"` : ""}`;
			},
		});
		const stream: Stream = { ...child, delays: true }; // neither srun nor slurmstepd sets TCP_NODELAY
		streams.add(stream);
		void stream.ended.then(() => streams.delete(stream));
		return stream;
	};

	/** Our directory, the variables and, if there is one, the container: once a life. */
	const prepare = async (job: Job): Promise<void> => {
		const at = `${settings.scratch}/holdfast-${job.id}`;
		const { apptainer } = settings;
		const text = exportText(settings.environment);
		const script = [
			"umask 077",
			`cat >${shellQuote(`${at}/place/environment`)}.$$ && mv ${shellQuote(`${at}/place/environment`)}.$$ ${shellQuote(`${at}/place/environment`)} || exit 90`,
			...(apptainer === undefined ? [workdirLine(settings)] : [innerStart(settings, at, name)]),
		].join("\n");
		const run = await step(job, script);
		const killAfter = (ms: number) => setTimeout(() => run.child.kill("SIGKILL"), ms);
		let late = killAfter(PREPARE_MS);
		let fetching: string | undefined;
		run.child.stdout.on("data", (part: Buffer) => {
			if (fetching !== undefined || !(part.includes(FETCHING) || part.includes(WAITING))) return;
			fetching = `job ${job.id} fetches the image ${apptainer?.image}`;
			hooks.progress?.(fetching);
			clearTimeout(late);
			late = killAfter(hooks.patienceMs ?? PREPARE_MS);
		});
		run.child.stdin.end(text); // values are in no argument and no script
		const { code } = await run.exit;
		clearTimeout(late);
		if (code === 0) return;
		if (code === null && fetching !== undefined) throw notYet(address, fetching); // the job fetches on: only its step was ended
		const last = await lastOf(job.id, job.submitted).catch(() => undefined);
		if (last && isHopeless(last)) throw new HoldfastError("START_FAILED", endOfJob(job.id, last));
		const fate = await fateOf(job).catch(() => undefined);
		if (fate !== undefined) throw new HoldfastError("UNREACHABLE", fate); // the next try makes another
		if (code === null) throw new HoldfastError("UNREACHABLE", `the node of the Slurm job ${job.id} did not answer within ${PREPARE_MS / 1000} s`);
		if (code === 91) throw new HoldfastError("NO_DIRECTORY", `there is no directory ${settings.workdir} on the node, and it cannot be made; choose another`);
		if (apptainer !== undefined && code === 92)
			throw new HoldfastError("UNSUPPORTED", "there is no apptainer on the node; set `setup` to what makes it one, for example: module load apptainer");
		if (apptainer !== undefined)
			throw new HoldfastError("START_FAILED", `the container in the Slurm job ${job.id} cannot be started: ${complaint(run.said())}`);
		throw explained(`the Slurm job ${job.id} cannot be used`, run.said() || `exit code ${code}`);
	};

	return {
		address,

		async start(signal): Promise<Started> {
			const last = hooks.last?.();
			const before = now && !last?.startsWith(IDLE) ? lifeOf(now) : last;
			const job = await running(signal);
			const life = lifeOf(job);
			if (prepared !== life) await prepare(job);
			now = job;
			prepared = life;
			return {
				instance: life,
				notes: await lifeNotes(job, before),
				dir: settings.apptainer === undefined ? `${settings.scratch}/holdfast-${job.id}/place` : INNER_DIR,
				box: { id: digest(life, 12), since: timeOf(job.started) },
				...(settings.lifetime === "task" ? {} : { lifetime: settings.lifetime }),
				...(job.left === undefined ? {} : { ends: Date.now() + job.left * 1000 }),
				...(settings.workdir === undefined ? {} : { cwd: settings.workdir }),
			};
		},

		async open(command, signal): Promise<Stream> {
			if (now === undefined) throw new HoldfastError("INTERNAL", "a stream was opened before the job was started");
			if (signal?.aborted) throw new HoldfastError("ABORTED", `connecting to ${address} was given up`);
			return openStream(now, enterText(settings, `${settings.scratch}/holdfast-${now.id}`, name, command));
		},

		async over(signal): Promise<Over | undefined> {
			const job = await findJob(name, signal);
			const known = now === undefined ? parseLife(hooks.last?.()) : now;
			if (job && (known === undefined || lifeOf(job) === lifeOf(known))) return undefined;
			if (known === undefined) return { why: "there is no Slurm job for it", kept: false };
			const last = await lastOf(known.id, known.submitted, signal);
			return { why: last ? endOfJob(known.id, last) : `the Slurm job ${known.id} has ended`, kept: false };
		},

		async whySilent() {
			const job = now && (await findJob(name));
			if (job?.state === "SUSPENDED") return `the Slurm job ${job.id} is suspended`;
			return now && job === undefined ? fateOf(now) : undefined;
		},

		async about(signal) {
			const { output } = await slurm("sinfo", ["--version"], { signal });
			return [plain(output)];
		},

		async stop(): Promise<readonly string[]> {
			for (const stream of streams) stream.close();
			now = undefined;
			prepared = undefined;
			const job = await findJob(name);
			if (!job) {
				jobOwners().forget(name);
				return [];
			}
			await cancel(job.id);
			for (let look = 0; look < 100; look++) {
				const left = await findJob(name);
				if (left === undefined || left.id !== job.id) break;
				await sleep(LOOKS_MS[Math.min(look, 3)]);
			}
			jobOwners().forget(name);
			return [`The Slurm job ${job.id} was ${job.state === "RUNNING" ? "cancelled, with everything that ran in it" : "taken out of the queue"}.`];
		},
	};
}

export const INNER_DIR = "/var/lib/holdfast";

const lifeOf = ({ id, submitted }: Pick<Job, "id" | "submitted">): string => `${id} ${submitted}`;

function parseLife(life: string | undefined): Pick<Job, "id" | "submitted"> | undefined {
	const [, id, submitted] = /^(\d+) (\S+)$/.exec(life ?? "") ?? [];
	return id === undefined || submitted === undefined ? undefined : { id, submitted };
}

/** Returns why a job is over; undefined: it is not over, or Slurm does not know it. */
async function fateOf({ id, submitted }: Pick<Job, "id" | "submitted">): Promise<string | undefined> {
	const last = await lastOf(id, submitted);
	if (last === undefined) return `the Slurm job ${id} has ended`;
	return ["RUNNING", "PENDING", "CONFIGURING", "SUSPENDED"].includes(last.state) ? undefined : endOfJob(id, last);
}

function mustFit(job: Job, settings: SlurmSettings): Job {
	const made = settingsIn(job.comment);
	if (made === undefined || made === madeWith(settings)) return job; // some sites cut comments off
	throw new HoldfastError(
		"CONFLICT",
		`the task has a Slurm job already (${job.id}), asked for with other settings; cancel it first, with what runs in it (holdfast sandboxes stop ${job.id}), use those settings, or another task`,
	);
}

/** Programs with the same home submit one at a time. */
async function leaseOf({ home, task }: HostOwner, signal: AbortSignal | undefined): Promise<Lease> {
	const file = path.join(home, "places", `submit-${digest(task, 12)}`, "lease");
	ensureDir(path.dirname(file));
	for (const until = performance.now() + PATIENCE_MS; ; await sleep(50)) {
		const lease = Lease.take(file);
		if (lease) return lease;
		if (signal?.aborted) throw new HoldfastError("ABORTED", "submitting a Slurm job was given up");
		if (performance.now() > until)
			throw new HoldfastError("START_FAILED", `${file} cannot be written to, or another program has been submitting the job for a minute; try again`);
	}
}

/** A new job has none of the files that the one before had on its node. */
async function lifeNotes(job: Job, before: string | undefined): Promise<string[]> {
	const known = parseLife(before);
	if (known === undefined || lifeOf(known) === lifeOf(job)) return [];
	const why = (await fateOf(known).catch(() => undefined)) ?? `the Slurm job ${known.id} has ended`;
	return [`${why.charAt(0).toUpperCase()}${why.slice(1)}. This is another one, ${job.id}: what ran, and what was on its node alone, is gone.`];
}

const workdirLine = ({ workdir }: SlurmSettings): string => (workdir === undefined ? "true" : `mkdir -p -- ${shellQuote(workdir)} || exit 91`);

const timeOf = (text: string): string => {
	const time = new Date(text);
	return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString();
};
