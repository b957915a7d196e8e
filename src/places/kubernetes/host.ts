/** A task's own pod as a place. docs/places.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, shellQuote, timeText } from "../../base/index.js";
import { childStream, plain, startChild } from "../child.js";
import type { Host, Over, Started, Stream } from "../host.js";
import type { HostHooks, HostOwner } from "../kind.js";
import { IDLE } from "../lives.js";
import { differing, machineName } from "../owner.js";
import { notYet, pauseUnlessGivenUp } from "../pending.js";
import { exportText } from "../settings.js";
import { kubernetesAddress } from "./address.js";
import { flagsOf, kubectl, kubectlProgram } from "./kubectl.js";
import { type KubernetesOptions, type KubernetesSettings, kubernetesSettings } from "./options.js";
import {
	aboutOf,
	awaited,
	CONTAINER,
	deletePod,
	endOfPod,
	findPod,
	LABEL,
	madeWith,
	OURS,
	obstacleOf,
	PLACE_DIR,
	type Pod,
	podBody,
	pullError,
	stateOf,
} from "./pod.js";
import { ALREADY_EXISTS, complaint, explained, NODE_AWAY } from "./words.js";

/** How long a start waits for a node and an image before it reports PENDING. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 500;
const PREPARE_MS = 60_000;
const GONE_MS = 60_000;
/** How many pods one start makes when each ends at once: a node that was full for a moment is worth another attempt. */
const ATTEMPTS = 3;

export function kubernetesHost(options: KubernetesOptions, owner: HostOwner, hooks: HostHooks = {}): Host {
	const settings = kubernetesSettings(options);
	const name = machineName(owner);
	const address = kubernetesAddress(settings);
	const streams = new Set<Stream>();
	let now: Pod | undefined;
	let prepared: string | undefined;

	/** Returns the pod once it runs. Throws PENDING if that takes longer; the pod stays. */
	const running = async (notes: string[], signal: AbortSignal | undefined): Promise<Pod> => {
		const until = performance.now() + (hooks.patienceMs ?? PATIENCE_MS);
		let said: string | undefined;
		let cause = "";
		for (let made = 0; ; ) {
			const pod = await findPod(settings, name, signal);
			if (pod === undefined) {
				if (signal?.aborted) throw new HoldfastError("ABORTED", `starting ${address} was given up`);
				// Ignores the caller's signal: a pod that is created anyway is found by its name.
				await kubectl(settings, ["create", "--validate=false", "-f", "-"], { input: JSON.stringify(podBody(settings, owner)), tolerate: ALREADY_EXISTS });
				made++;
				hooks.progress?.("the pod is being made");
				continue;
			}
			mustBeOurs(pod);
			const obstacle = obstacleOf(pod);
			if (obstacle !== undefined && pod.metadata.deletionTimestamp === undefined) {
				await deletePod(settings, name); // nothing has run in it, whichever program made it
				if (otherSettings(pod, settings).length === 0) throw new HoldfastError("START_FAILED", obstacle);
				continue;
			}
			mustFit(pod, settings);
			const end = endOfPod(pod);
			if (end !== undefined && pod.metadata.deletionTimestamp === undefined) {
				if (made >= ATTEMPTS) {
					await deletePod(settings, name);
					throw new HoldfastError("START_FAILED", `the pod ends whenever it is started: ${end}`);
				}
				if (made === 0 && said !== pod.metadata.uid)
					notes.push(
						`${end.charAt(0).toUpperCase()}${end.slice(1)}. It has been made again from ${settings.image}: files and processes that were in it are lost.`,
					);
				said = pod.metadata.uid;
				await deletePod(settings, name);
			} else if (end === undefined && stateOf(pod).running && pod.status.phase === "Running") {
				return pod;
			} else {
				cause = pullError(pod) ?? cause;
				const words = end ?? awaited(pod, cause);
				hooks.progress?.(words);
				if (performance.now() > until) throw notYet(address, words);
			}
			await pauseUnlessGivenUp(LOOK_MS, signal, address, `the pod ${name} stays`);
		}
	};

	const exec = (command: string) => startChild(kubectlProgram(), [...flagsOf(settings), "exec", "-i", name, "-c", CONTAINER, "--", "sh", "-c", command]);

	/** Returns why streams of a pod have ended. Asks the cluster, since a stream ends with code 0 and no message when a node or the server is lost. */
	const fate = async (pod: Pod): Promise<string | undefined> => {
		const found = await findPod(settings, name);
		if (found === undefined) return "the pod was deleted";
		if (found.metadata.uid !== pod.metadata.uid) return "the pod was made again meanwhile";
		return endOfPod(found);
	};

	/** Creates our directory and the variables, once per life. */
	const prepare = async (pod: Pod): Promise<void> => {
		const { workdir, environment } = settings;
		const text = exportText(environment);
		const run = await exec(`${PREPARE}${workdir === undefined ? "" : `; mkdir -p -- ${shellQuote(workdir)} || exit 91`}`);
		const late = setTimeout(() => run.child.kill("SIGKILL"), PREPARE_MS);
		run.child.stdout.resume();
		run.child.stdin.end(text); // values appear in no argument, and in nothing that the cluster shows
		const { code } = await run.exit;
		clearTimeout(late);
		if (code === 0) return;
		const why = await fate(pod);
		if (why !== undefined) throw new HoldfastError("UNREACHABLE", why); // the next attempt creates another
		if (code === 91) throw new HoldfastError("NO_DIRECTORY", `there is no directory ${workdir} in the pod, and it cannot be made; choose another`);
		if (code === null) throw new HoldfastError("UNREACHABLE", `the pod ${name} did not answer within ${PREPARE_MS / 1000} s`);
		throw explained("commands cannot be run in the pod", run.said() || `exit code ${code}`);
	};

	return {
		address,

		async start(signal): Promise<Started> {
			const last = hooks.last?.();
			const before = now && !last?.startsWith(IDLE) ? now.metadata.uid : last;
			const notes: string[] = [];
			const pod = await running(notes, signal);
			const { uid } = pod.metadata;
			if (prepared !== uid) await prepare(pod);
			now = pod;
			prepared = uid;
			const began = pod.status.startTime ?? pod.metadata.creationTimestamp;
			const limit = pod.spec.activeDeadlineSeconds;
			return {
				instance: uid,
				notes: notes.length > 0 ? notes : lifeNotes(uid, before, settings),
				dir: PLACE_DIR,
				box: { id: uid.replaceAll("-", "").slice(0, 12), since: new Date(stateOf(pod).running?.startedAt ?? began).toISOString() },
				...(settings.lifetime === "task" ? {} : { lifetime: settings.lifetime }),
				...(limit === undefined || began === "" ? {} : { ends: Date.parse(began) + limit * 1000 }),
				...(settings.workdir === undefined ? {} : { cwd: settings.workdir }),
			};
		},

		async open(command, signal): Promise<Stream> {
			const pod = now;
			if (pod === undefined) throw new HoldfastError("INTERNAL", "a stream was opened before the pod was started");
			if (signal?.aborted) throw new HoldfastError("ABORTED", `connecting to ${address} was given up`);
			const stream = childStream(await exec(`. ${PLACE_DIR}/environment; cd "$HOME" 2>/dev/null || cd /; ${command}`), {
				why: async ({ code, signal: by }, said) => {
					let why: string | undefined;
					try {
						why = await fate(pod);
					} catch (error) {
						return (error as Error).message; // the cluster is unreachable, or the login has expired
					}
					if (why !== undefined) return why;
					if (by !== null) return `kubectl was ended by ${by}`;
					if (NODE_AWAY.test(said)) return explained("", said).message;
					if (code === 0 || /upgrade connection|EOF|connection/i.test(said))
						return `the connection to the pod broke${said ? ` (${complaint(said)})` : ": its node, or the cluster's server, may be away"}`;
					return `the command there ended with exit code ${code}${said ? ` and said "${plain(said).slice(-300)}"` : ""}`;
				},
			});
			streams.add(stream);
			void stream.ended.then(() => streams.delete(stream));
			return stream;
		},

		async over(signal): Promise<Over | undefined> {
			const pod = await findPod(settings, name, signal);
			const known = now?.metadata.uid ?? hooks.last?.();
			if (pod === undefined || (known !== undefined && !known.startsWith(IDLE) && known !== pod.metadata.uid))
				return { why: "the pod that it ran in was deleted", kept: false };
			const why = endOfPod(pod);
			return why === undefined ? undefined : { why, kept: false };
		},

		async whySilent() {
			return now && (await fate(now));
		},

		async about(signal) {
			const { output } = await kubectl(settings, ["version", "--client", "-o", "json"], { signal });
			const version = /"gitVersion":\s*"([^"]+)"/.exec(output)?.[1] ?? "of an unknown version";
			return [`kubectl ${version}`, `context ${settings.context ?? "as kubectl has it"}`];
		},

		async stop(): Promise<readonly string[]> {
			for (const stream of streams) stream.close();
			now = undefined;
			prepared = undefined;
			const pod = await findPod(settings, name);
			if (pod === undefined || pod.metadata.labels[LABEL.owner] !== OURS) return [];
			await deletePod(settings, name);
			for (const until = performance.now() + GONE_MS; performance.now() < until; await sleep(LOOK_MS)) {
				const left = await findPod(settings, name);
				// A node may take another minute to let go of a pod whose processes have ended.
				const ended = left?.metadata.deletionTimestamp !== undefined && stateOf(left).terminated !== undefined;
				if (ended || left?.metadata.uid !== pod.metadata.uid) return [`The pod ${name} of ${settings.image} was deleted, with everything in it.`];
			}
			throw new HoldfastError("START_FAILED", `the pod ${name} is being deleted, but does not go away; see: kubectl describe pod ${name}`);
		},
	};
}

/** Completes the directory before it gets its name: another program may do the same at this moment. */
const PREPARE = `umask 077; d=${PLACE_DIR}; mkdir -p "$d/busy" && true >>"$d/life" && true >>"$d/seen" && cat >"$d/environment.$$" && mv "$d/environment.$$" "$d/environment" || exit 90`;

function mustBeOurs({ metadata: { name, labels } }: Pod): void {
	if (labels[LABEL.owner] !== OURS) throw new HoldfastError("CONFLICT", `there is a pod ${name} that Holdfast has not made; remove it, or use another task`);
}

function otherSettings(pod: Pod, settings: KubernetesSettings): readonly string[] {
	const about = aboutOf(pod);
	return about ? differing(about.settings, madeWith(settings)) : [];
}

function mustFit(pod: Pod, settings: KubernetesSettings): void {
	const { name, uid } = pod.metadata;
	const other = otherSettings(pod, settings);
	if (other.length > 0 && endOfPod(pod) === undefined)
		throw new HoldfastError(
			"CONFLICT",
			`the task has a pod already (${name}), made with other settings (${other.join(", ")}); remove it first, with what is in it (holdfast sandboxes stop ${uid.replaceAll("-", "").slice(0, 12)}), use those settings, or another task`,
		);
}

function lifeNotes(uid: string, before: string | undefined, { image }: KubernetesSettings): string[] {
	if (before === undefined || before === uid) return [];
	const [word, seconds] = before.split(" ");
	if (word === IDLE) return [`The pod had not been used for ${timeText(Number(seconds))} and was deleted, with the files in it; this is a new one.`];
	return [`The pod was gone and has been made again from ${image}: the files and processes that were in it are lost.`];
}
