/** A task's own instance of Apptainer as a place. docs/places.md. */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, Lease, readIfThere, statIfThere, timeText } from "../../base/index.js";
import { childStream, type Program, plain, startChild } from "../child.js";
import type { Host, Started, Stream } from "../host.js";
import type { HostHooks, HostOwner } from "../kind.js";
import { IDLE } from "../lives.js";
import { differing, machineName } from "../owner.js";
import { exportText, switchSeconds } from "../settings.js";
import { switchScript } from "../switch.js";
import { checkVolumes } from "../volumes.js";
import { apptainerAddress } from "./address.js";
import { ensureImage } from "./image.js";
import {
	endInstance,
	findInstance,
	type Instance,
	type InstanceOwner,
	isRunning,
	madeWith,
	makeDirs,
	readOwner,
	runStart,
	sinceWhen,
	startArguments,
	startersGone,
} from "./instance.js";
import { type ApptainerOptions, type ApptainerSettings, apptainerSettings } from "./options.js";
import { apptainerProgram, runApptainer } from "./program.js";
import { removeDirs } from "./remove.js";
import { dirsOf, type InstanceDirs, makeScratch, STATE_DIR, scratchOf } from "./scratch.js";
import { alreadyExists, noInstance, noShell, refused } from "./words.js";

const ATTEMPTS = 5;
const LOOK_MS = 50;
const START_MS = 120_000; // a large image on a slow disk

/** A running instance and the owner of its files. */
interface Found {
	readonly instance: Instance;
	readonly owner: InstanceOwner;
}

export function apptainerHost(options: ApptainerOptions, owner: HostOwner, hooks: HostHooks = {}): Host {
	const settings = apptainerSettings(options);
	const scratch = scratchOf(settings.scratch);
	const name = machineName(owner);
	const dirs = dirsOf(scratch, name);
	const address = apptainerAddress(settings);
	const program = () => apptainerProgram(scratch.temporary);
	const streams = new Set<Stream>();
	let now: Found | undefined;
	let prepared: string | undefined;

	/** Returns the instance if it runs. Asking Apptainer takes a tenth of a second; checking its process is free. */
	const find = async (signal?: AbortSignal): Promise<Instance | undefined> =>
		now && isRunning(now.instance) ? now.instance : findInstance(program(), name, signal);

	/** Returns the instance, starting it first if it does not run. */
	const bringUp = async (notes: string[], signal: AbortSignal | undefined): Promise<Found> => {
		const until = performance.now() + START_MS;
		for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
			const instance = await find(signal);
			if (instance) {
				const made = readOwner(dirs);
				if (made) {
					mustFit(made, settings, name);
					return { instance, owner: made };
				}
				await endInstance(program(), instance); // its files were removed while it ran
				continue;
			}
			const before = readOwner(dirs);
			if (before) mustFit(before, settings, name);
			const { file, fetched } = await ensureImage({ program: program(), settings, scratch, progress: hooks.progress, signal });
			if (fetched) notes.push(`The image ${settings.image} was fetched, to ${file}.`);
			makeDirs(dirs, owner, settings);
			// Apptainer lets two concurrent starts create two instances of one name.
			const lease = Lease.take(`${dirs.dir}/start`);
			if (!lease) {
				if (signal?.aborted) throw new HoldfastError("ABORTED", `starting ${address} was given up`);
				if (performance.now() > until)
					throw new HoldfastError(
						"START_FAILED",
						`the Apptainer instance cannot be started: ${dirs.dir} cannot be written to, or another program has been starting it for ${START_MS / 1000} s`,
					);
				await sleep(LOOK_MS);
				attempt--;
				continue;
			}
			try {
				await startersGone(dirs);
				if (await findInstance(program(), name)) continue;
				await startInstance(file, before === undefined);
			} finally {
				lease.release();
			}
		}
		throw new HoldfastError("START_FAILED", `the Apptainer instance ${name} ends whenever it is started; see: apptainer instance list --logs`);
	};
	const startInstance = async (file: string, first: boolean): Promise<void> => {
		// Ignores the caller's signal: an instance that starts anyway would have no switch.
		const { code, said } = await runStart(program(), startArguments(settings, dirs, file, name), dirs);
		if (code === 0 || alreadyExists(said)) return; // the instance counts as started once it is found
		if (first) removeDirs(dirs);
		throw refused("the Apptainer instance cannot be started", said, settings);
	};

	return {
		address,

		async start(signal): Promise<Started> {
			makeScratch(scratch);
			checkVolumes(settings.volumes, owner.home);
			const last = hooks.last?.();
			const before = now && !last?.startsWith(IDLE) ? lifeOf(now) : last;
			const why = whyEnded(dirs);
			const notes: string[] = [];
			const found = await bringUp(notes, signal);
			const life = lifeOf(found);
			if (prepared !== life) {
				fs.writeFileSync(`${dirs.state}/environment`, exportText(settings.environment), { mode: 0o600 });
				await prepare(program(), found, settings);
			}
			now = found;
			prepared = life;
			return {
				instance: life,
				notes: [...lifeNotes(found, before, why, settings), ...notes],
				dir: STATE_DIR,
				box: { id: found.owner.id, since: sinceWhen(dirs, found.instance) },
				...(settings.lifetime === "task" ? {} : { lifetime: settings.lifetime }),
				...(settings.workdir === undefined ? {} : { cwd: settings.workdir }),
			};
		},

		async open(command, signal): Promise<Stream> {
			if (now === undefined) throw new HoldfastError("INTERNAL", "a stream was opened before the instance was started");
			if (signal?.aborted) throw new HoldfastError("ABORTED", `connecting to ${address} was given up`);
			const running = await startChild(program(), ["-s", "exec", "-e", `instance://${name}`, "sh", "-c", `${ENTER}${command}`]);
			const stream = childStream(running, {
				why: async ({ code, signal: by }, said) => {
					if (noInstance(said) || (await find().catch(() => now?.instance)) === undefined) return `the Apptainer instance has ended${whyEnded(dirs)}`;
					if (by !== null) return `apptainer was ended by ${by}`;
					return `the command there ended with exit code ${code}${said ? ` and said "${plain(said).slice(-300)}"` : ""}`;
				},
			});
			streams.add(stream);
			void stream.ended.then(() => streams.delete(stream));
			return stream;
		},

		async over(signal) {
			if (await find(signal)) return undefined;
			const kept = statIfThere(dirs.dir) !== undefined;
			return kept ? { why: `the Apptainer instance has ended${whyEnded(dirs)}`, kept } : { why: "the Apptainer instance that it ran in was removed", kept };
		},

		async about(signal) {
			const { output } = await runApptainer(program(), ["--version"], { signal });
			return [plain(output), `images and files of instances are in ${scratch.dir}`];
		},

		async stop(): Promise<readonly string[]> {
			for (const stream of streams) stream.close();
			await startersGone(dirs);
			const instance = await find();
			now = undefined;
			prepared = undefined;
			if (instance) await endInstance(program(), instance);
			const made = readOwner(dirs);
			if (!settings.keep && statIfThere(dirs.dir)) removeDirs(dirs, { program: program(), settings, scratch });
			const what = `The Apptainer instance ${name} of ${made?.image ?? settings.image}`;
			if (settings.keep) return instance ? [`${what} was stopped; its files are kept in ${dirs.dir}.`] : [];
			return instance || made ? [`${what} was removed, with everything in it.`] : [];
		},
	};
}

/** Every shell would print what Apptainer sets for an interactive prompt. */
const ENTER = `unset PROMPT_COMMAND PS1 USER_PATH; . ${STATE_DIR}/environment; cd "$HOME" 2>/dev/null || cd /; `;

const lifeOf = ({ instance: { pid, start }, owner: { id } }: Found): string => `${id} ${pid} ${start}`;

function mustFit(made: InstanceOwner, settings: ApptainerSettings, name: string): void {
	const other = differing(made.settings, madeWith(settings));
	if (other.length === 0) return;
	throw new HoldfastError(
		"CONFLICT",
		`the task has an Apptainer instance already (${name}, of ${made.image}), made with other settings (${other.join(", ")}); remove it first, with what is in it (holdfast sandboxes stop ${made.id}), use those settings, or another task`,
	);
}

/** Creates the directory for our files and starts the switch. The first caller in this life starts it; its lock is its own. */
const PREPARE = `
umask 077; d=${STATE_DIR}
mkdir -p "$d/busy" && true >>"$d/life" && true >>"$d/seen" && rm -f "$d/over" || exit 90
[ -z "$4" ] || (umask 022; mkdir -p -- "$4") || exit 91
s=; command -v setsid >/dev/null 2>&1 && s=setsid
[ -d "$d/switch.$1" ] || $s sh -c 'mkdir "$1" 2>/dev/null || exit 0; exec sh -c "$2" holdfast "$3" "$4" "$5"' holdfast "$d/switch.$1" "$3" "$d" "$2" "$5" </dev/null >/dev/null 2>&1 &`;
const AT_END = `echo idle >${STATE_DIR}/over; kill -TERM 1; sleep 5; exit 75`;

async function prepare(program: Program, { instance }: Found, settings: ApptainerSettings): Promise<void> {
	const seconds = String(switchSeconds(settings.lifetime));
	const args = [PREPARE, "holdfast", `${instance.pid}-${instance.start}`, seconds, switchScript(), settings.workdir ?? "", AT_END];
	const { code, said } = await runApptainer(program, ["-s", "exec", "-e", `instance://${instance.name}`, "sh", "-c", ...args]);
	if (code === 0) return;
	if (code === 91) throw new HoldfastError("NO_DIRECTORY", `there is no directory ${settings.workdir} in the instance, and it cannot be made; choose another`);
	if (/"sh": executable file not found|exec: "sh"|executable file not found/.test(said)) {
		await endInstance(program, instance);
		throw noShell(settings.image);
	}
	throw refused("the Apptainer instance cannot be used", said || `exit code ${code}`, settings);
}

/** Returns why the instance ended, as far as known: the rest of a sentence. */
function whyEnded(dirs: InstanceDirs): string {
	const made = readOwner(dirs);
	if (readIfThere(`${dirs.state}/over`) === undefined || typeof made?.lifetime !== "number") return "";
	return `: it had stopped itself, after ${timeText(made.lifetime)} in which it was unused and nothing ran in it`;
}

/** Returns the notes about a new life of the instance. `before` is the life that the caller knew. */
function lifeNotes({ instance, owner }: Found, before: string | undefined, why: string, { image }: ApptainerSettings): string[] {
	if (before === undefined || before === lifeOf({ instance, owner })) return [];
	const [id, seconds] = before.split(" ");
	if (id === IDLE)
		return [`The Apptainer instance had not been used for ${timeText(Number(seconds))} and was removed, with the files in it; this is a new one.`];
	if (id === owner.id) return [`The Apptainer instance had ended${why}. It has been started again: its files are there, but what ran in it is gone.`];
	return [`The Apptainer instance was gone and has been made again from ${image}: the files and processes that were in it are lost.`];
}
