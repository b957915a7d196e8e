/** A task's own Modal sandbox as a place. docs/places.md. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ModalClient, Sandbox } from "modal";
import { HoldfastError, shellQuote, timeText } from "../../base/index.js";
import type { Host, Over, Started, Stream } from "../host.js";
import type { HostHooks, HostOwner } from "../kind.js";
import { IDLE } from "../lives.js";
import { differing, machineName } from "../owner.js";
import { notYet } from "../pending.js";
import { exportText } from "../settings.js";
import { modalAddress } from "./address.js";
import { asked } from "./calls.js";
import { LIBRARY, modalClient } from "./library.js";
import { type ModalOptions, type ModalSettings, modalSettings } from "./options.js";
import { appName, endOfSandbox, findSandbox, madeWith, makeSandbox, OF_THE_HOME, PLACE_DIR, readTags, sandboxOwners, settingsTag, shortId } from "./sandbox.js";
import { modalStream } from "./stream.js";
import { explained, isOver, isTaken } from "./words.js";

/** How long a start waits for an image and a machine before it reports PENDING. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 500;
const PREPARE_MS = 60_000;
const STOP_MS = 60_000;
/** How many sandboxes one start makes when each ends at once. */
const ATTEMPTS = 3;

interface Life {
	readonly box: Sandbox;
	readonly ends: number | undefined;
}

export function modalHost(options: ModalOptions, owner: HostOwner, hooks: HostHooks = {}): Host {
	const settings = modalSettings(options);
	const name = machineName(owner);
	const address = modalAddress(settings);
	const streams = new Set<Stream>();
	let now: Life | undefined;
	let prepared: string | undefined;

	/** Returns the sandbox once it runs: the existing one, else a new one. Two concurrent programs get the same, by its name. */
	const running = async (client: ModalClient, notes: string[], progress: (line: string) => void, signal: AbortSignal): Promise<Life> => {
		if (now && (await endOfSandbox(now.box, settings.time)) === undefined) return now;
		for (let made = 0; ; ) {
			const found = await findSandbox(client, owner);
			const life = found && (await fitting(found));
			if (life) return life;
			const owners = sandboxOwners();
			const { image: kept, ...more } = owners.of(name)?.more ?? {};
			owners.remember({ home: owner.home, task: OF_THE_HOME }, whereOf(settings));
			owners.remember(owner, { ...more, ...(kept === undefined ? {} : { image: kept }), ...whereOf(settings), settings: JSON.stringify(madeWith(settings)) });
			try {
				const box = await makeSandbox(client, settings, owner, { kept, progress, notes });
				made++;
				const fresh = await fitting(box);
				if (fresh) return fresh;
				if (made >= ATTEMPTS)
					throw new HoldfastError(
						"START_FAILED",
						`the sandbox ends whenever it is started (${(await endOfSandbox(box, settings.time)) ?? "it runs no more"}); see whether the image has sh, and enough memory was asked for`,
					);
			} catch (error) {
				if (!isTaken(error)) throw error;
			}
			await sleep(LOOK_MS, undefined, { signal });
		}
	};

	/** Throws CONFLICT if it was made with other settings. Returns undefined if it has ended meanwhile. */
	const fitting = async (box: Sandbox): Promise<Life | undefined> => {
		const tags = readTags(await box.getTags());
		if (tags === undefined) throw new HoldfastError("CONFLICT", `there is a sandbox ${name} of Modal that Holdfast has not made; end it, or use another task`);
		if ((await endOfSandbox(box, settings.time)) !== undefined) return undefined;
		if (tags.settings === settingsTag(settings)) return { box, ends: tags.ends };
		const before = settingsOf(sandboxOwners().of(name)?.more.settings);
		const other = before === undefined ? [] : differing(before, madeWith(settings));
		throw new HoldfastError(
			"CONFLICT",
			`the task has a sandbox already, made with other settings${other.length === 0 ? "" : ` (${other.join(", ")})`}; end it first, with what is in it (holdfast sandboxes stop ${shortId(box.sandboxId)}), use those settings, or another task`,
		);
	};

	/** Creates our directory and the variables, once per life. */
	const prepare = async (box: Sandbox): Promise<void> => {
		const { workdir, environment } = settings;
		const text = exportText(environment);
		const script = `${PREPARE}${workdir === undefined ? "" : `; mkdir -p -- ${shellQuote(workdir)} || exit 91`}`;
		const run = await box.exec(["sh", "-c", script], { timeoutMs: PREPARE_MS, stdout: "ignore" });
		// Values appear in no argument, and in nothing that Modal shows. A command that does not read them has ended: its code tells more.
		await run.stdin.writeText(text).catch(() => {});
		await run.stdin.close().catch(() => {});
		const said = await run.stderr.readText().catch(() => "");
		const code = await run.wait();
		if (code === 0) return;
		if (code === 91) throw new HoldfastError("NO_DIRECTORY", `there is no directory ${workdir} in the sandbox, and it cannot be made; choose another`);
		throw new HoldfastError("START_FAILED", `commands cannot be run in the sandbox (${said.trim().slice(-300) || `exit code ${code}`})`);
	};

	/** Returns the result of `work`; throws PENDING with its progress when the patience is over, which is no failure. */
	const patiently = async <T>(work: (progress: (line: string) => void, signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
		const stop = new AbortController();
		const aborted = () => new HoldfastError("ABORTED", `starting ${address} was given up; what Modal has begun goes on`);
		if (signal?.aborted) throw aborted();
		let doing = "Modal is asked for the sandbox";
		let late = false;
		const progress = (line: string) => {
			doing = line;
			hooks.progress?.(line);
		};
		const timer = setTimeout(() => {
			late = true;
			stop.abort();
		}, hooks.patienceMs ?? PATIENCE_MS);
		const giveUp = () => stop.abort();
		signal?.addEventListener("abort", giveUp, { once: true });
		const given = new Promise<never>((_, reject) =>
			stop.signal.addEventListener("abort", () => reject(late ? notYet(address, doing) : aborted()), { once: true }),
		);
		given.catch(() => {});
		try {
			return await Promise.race([asked(() => work(progress, stop.signal), stop.signal), given]);
		} catch (error) {
			if (late) throw notYet(address, doing);
			if (stop.signal.aborted) throw aborted();
			throw error;
		} finally {
			clearTimeout(timer);
			signal?.removeEventListener("abort", giveUp);
		}
	};

	/** Returns what became of an earlier life, as far as Modal still knows. */
	const whyOver = (client: ModalClient, id: string): Promise<string> =>
		asked(async () => endOfSandbox(await client.sandboxes.fromId(id), settings.time)).then(
			(why) => why ?? "the sandbox had ended",
			() => "the sandbox had ended",
		);

	/** Returns why streams of a sandbox have ended: a stream itself does not tell. */
	const fate = ({ box }: Life): Promise<string | undefined> => asked(() => endOfSandbox(box, settings.time));

	return {
		address,

		async start(signal): Promise<Started> {
			const last = hooks.last?.();
			const before = now && !last?.startsWith(IDLE) ? now.box.sandboxId : last;
			const notes: string[] = [];
			const client = await modalClient(settings.modalEnvironment);
			try {
				now = await patiently(async (progress, stop) => {
					const life = await running(client, notes, progress, stop);
					if (prepared !== life.box.sandboxId) await prepare(life.box);
					return life;
				}, signal);
			} catch (error) {
				if (isOver(error)) throw new HoldfastError("UNREACHABLE", "the sandbox ended while it was being prepared", { cause: error }); // the next attempt creates another
				throw explained("the sandbox cannot be started", error);
			}
			const { box, ends } = now;
			prepared = box.sandboxId;
			if (before !== undefined && before !== box.sandboxId && notes.length === 0) {
				const kept = settings.keep && sandboxOwners().of(name)?.more.image !== undefined;
				notes.push(...lifeNotes(before, await whyOver(client, before), settings, kept));
			}
			return {
				instance: box.sandboxId,
				notes,
				dir: PLACE_DIR,
				box: { id: shortId(box.sandboxId), since: new Date((ends ?? Date.now()) - settings.time * 60_000).toISOString() },
				...(settings.lifetime === "task" ? {} : { lifetime: settings.lifetime }),
				...(ends === undefined ? {} : { ends }),
				...(settings.workdir === undefined ? {} : { cwd: settings.workdir }),
			};
		},

		async open(command, signal): Promise<Stream> {
			const life = now;
			if (life === undefined) throw new HoldfastError("INTERNAL", "a stream was opened before the sandbox was started");
			if (signal?.aborted) throw new HoldfastError("ABORTED", `connecting to ${address} was given up`);
			const text = `. ${PLACE_DIR}/environment; cd "$HOME" 2>/dev/null || cd /; ${command}`;
			try {
				const run = await asked(() => life.box.exec(["sh", "-c", text], { mode: "binary", stderr: "ignore" }), signal);
				const stream = modalStream(run, () => fate(life).catch((error) => explained("Modal cannot be asked", error).message));
				streams.add(stream);
				void stream.ended.then(() => streams.delete(stream));
				return stream;
			} catch (error) {
				if (signal?.aborted) throw new HoldfastError("ABORTED", `connecting to ${address} was given up`);
				const why = await fate(life).catch(() => undefined);
				throw why === undefined ? explained("a command cannot be run in the sandbox", error) : new HoldfastError("UNREACHABLE", why, { cause: error });
			}
		},

		async over(signal): Promise<Over | undefined> {
			const last = hooks.last?.();
			const known = now?.box.sandboxId ?? (last?.startsWith(IDLE) ? undefined : last);
			const client = await modalClient(settings.modalEnvironment);
			try {
				const box = await asked(async () => (known === undefined ? findSandbox(client, owner) : client.sandboxes.fromId(known)), signal);
				const why = box === undefined ? "the sandbox that it ran in has ended" : await asked(() => endOfSandbox(box, settings.time), signal);
				return why === undefined ? undefined : { why, kept: false };
			} catch (error) {
				throw explained("Modal cannot be asked", error);
			}
		},

		async whySilent() {
			return now && fate(now);
		},

		async about() {
			const { profile } = await modalClient(settings.modalEnvironment);
			return [LIBRARY, `environment ${settings.modalEnvironment ?? (profile.environment || "as Modal has it")}`, `app ${appName(owner)}`];
		},

		async stop(): Promise<readonly string[]> {
			for (const stream of streams) stream.close();
			now = undefined;
			prepared = undefined;
			const client = await modalClient(settings.modalEnvironment);
			try {
				return await asked(() => end(client));
			} catch (error) {
				throw explained("the sandbox cannot be ended", error);
			}
		},
	};

	async function end(client: ModalClient): Promise<readonly string[]> {
		const box = await findSandbox(client, owner);
		if (box === undefined || readTags(await box.getTags()) === undefined) {
			if (!settings.keep) sandboxOwners().forget(name);
			return [];
		}
		const owners = sandboxOwners();
		const { image: older, ...more } = owners.of(name)?.more ?? {};
		// Without a snapshot nothing is ended: the files are what was to be kept.
		const kept = settings.keep ? (await box.snapshotFilesystem()).imageId : undefined;
		if (kept !== undefined) owners.remember(owner, { ...more, image: kept, kept: new Date().toISOString() });
		await box.terminate();
		for (const until = performance.now() + STOP_MS; (await endOfSandbox(box, settings.time)) === undefined; await sleep(LOOK_MS))
			if (performance.now() > until)
				throw new HoldfastError("START_FAILED", `the sandbox ${box.sandboxId} was told to end, but does not; see: modal container list`);
		if (older !== undefined) await client.images.delete(older).catch(() => {}); // it expires by itself
		if (kept !== undefined) return [`The sandbox of ${settings.image} was ended; a snapshot of its files is kept for 30 days, and the next one is made of it.`];
		owners.forget(name);
		return [`The sandbox of ${settings.image} was ended, with everything in it.`];
	}
}

/** Completes the directory before it gets its name: another program may do the same at this moment. */
const PREPARE = `umask 077; d=${PLACE_DIR}; mkdir -p "$d/busy" && true >>"$d/life" && true >>"$d/seen" && cat >"$d/environment.$$" && mv "$d/environment.$$" "$d/environment" || exit 90`;

const whereOf = ({ modalEnvironment }: ModalSettings): Record<string, string> => (modalEnvironment === undefined ? {} : { environment: modalEnvironment });

function settingsOf(text: string | undefined): Record<string, string> | undefined {
	try {
		return JSON.parse(text ?? "") as Record<string, string>;
	} catch {
		return undefined;
	}
}

/** Returns notes about a life that differs from the previous one. `why`: what became of that. */
function lifeNotes(before: string, why: string, { image }: ModalSettings, kept: boolean): string[] {
	const files = kept ? "its files are those of the last snapshot" : "the files that were in it are lost";
	const [word, seconds] = before.split(" ");
	if (word === IDLE) return [`The sandbox had not been used for ${timeText(Number(seconds))} and was ended; this is a new one: ${files}.`];
	const made = `It has been made again from ${kept ? "its snapshot" : image}`;
	return [`${why.charAt(0).toUpperCase()}${why.slice(1)}. ${made}: processes that were in it are lost, and ${files}.`];
}
