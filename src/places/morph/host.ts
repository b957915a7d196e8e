/** A task's own MorphCloud instance as a place: REST for its life, ssh for the bytes. docs/places.md. */
import { HoldfastError, shellQuote, timeText } from "../../base/index.js";
import type { Host, Over, Started, Stream } from "../host.js";
import type { HostHooks, HostOwner } from "../kind.js";
import { IDLE } from "../lives.js";
import { digest } from "../owner.js";
import { notYet, pauseUnlessGivenUp } from "../pending.js";
import { exportText } from "../settings.js";
import { sshHost } from "../ssh/index.js";
import { morphAddress } from "./address.js";
import { type Morph, type MorphInstance, openMorph } from "./api.js";
import { findOrMake, firstOf, instancesOf } from "./instance.js";
import { keyFile, knownHosts, removeKey } from "./key.js";
import { type MorphOptions, type MorphSettings, morphSettings } from "./options.js";

/** How long a start waits for an instance before it reports PENDING. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 500;
const PREPARE_MS = 60_000;

export function morphHost(options: MorphOptions, owner: HostOwner, hooks: HostHooks = {}): Host {
	const settings = morphSettings(options);
	const address = morphAddress(settings);
	const streams = new Set<Stream>();
	let opened: Morph | undefined;
	let now: { readonly instance: MorphInstance; readonly ssh: Host } | undefined;
	let beat: NodeJS.Timeout | undefined;
	const morph = (): Morph => {
		opened ??= openMorph();
		return opened;
	};

	/** Returns the id of the instance that any program last used, unless it was ended because it was unused. */
	const lastUsed = (): string | undefined => {
		const last = hooks.last?.();
		return now?.instance.id ?? (last?.startsWith(IDLE) ? undefined : last);
	};

	/** Returns the instance once it is ready: created, awaited, or woken. Throws PENDING if that takes longer; the instance stays. */
	const ready = async (notes: string[], signal: AbortSignal | undefined): Promise<{ readonly instance: MorphInstance; readonly made: boolean }> => {
		const until = performance.now() + (hooks.patienceMs ?? PATIENCE_MS);
		const found = await findOrMake(morph(), settings, owner, signal);
		const { id } = found.instance;
		let woken = false;
		for (let instance: MorphInstance | undefined = found.instance; ; instance = await morph().get(id, signal)) {
			if (instance?.status === "ready") return { instance, made: found.made };
			if (instance === undefined) throw new HoldfastError("UNREACHABLE", `the Morph instance ${id} was stopped while it started`);
			if (instance.status === "error") {
				await morph().stop(id);
				throw new HoldfastError("START_FAILED", `the Morph instance ${id} could not be started, and was removed: Morph says "error" and no more; try again`);
			}
			const words = `the instance ${id} is ${instance.status}`;
			hooks.progress?.(words);
			if (instance.status === "paused" && !woken) {
				woken = true;
				await morph().resume(id, signal);
				notes.push("The instance had been paused; it goes on now, and nothing is lost.");
			} else if (performance.now() > until) throw notYet(address, words);
			await pauseUnlessGivenUp(LOOK_MS, signal, address, `the instance ${id} goes on starting`);
		}
	};

	/** Renews its time with the service as long as this program has a stream to it, such as a link. */
	const renew = () => {
		if (beat !== undefined || streams.size === 0) return;
		beat = setTimeout(() => {
			beat = undefined;
			if (now && streams.size > 0) void keepAlive(morph(), now.instance, settings).catch(() => {}); // three more attempts follow before its time is up
			renew();
		}, settings.lifetime * 250).unref();
	};

	const sshTo = async ({ id }: MorphInstance, signal: AbortSignal | undefined): Promise<Host> => {
		const { host, port } = morph().ssh;
		// The login is the id alone. The service would accept the API key in it, but a login is visible in every process list.
		return sshHost(
			{
				host,
				port,
				user: id,
				identityFile: await keyFile(owner.home, id, () => morph().key(id, signal)),
				options: { StrictHostKeyChecking: "accept-new", UserKnownHostsFile: knownHosts(owner.home), HostKeyAlias: host, IdentityAgent: "none" },
			},
			{ home: owner.home },
		);
	};

	/** Returns why streams of an instance have ended or gone silent: ssh does not know. */
	const fate = async ({ id }: MorphInstance): Promise<string | undefined> => {
		const found = await morph().get(id);
		if (found === undefined) return "the Morph instance was stopped";
		return found.status === "ready" || found.status === "saving" ? undefined : `the Morph instance is ${found.status}`;
	};

	const letGo = async (): Promise<void> => {
		clearTimeout(beat);
		beat = undefined;
		const ssh = now?.ssh;
		now = undefined;
		for (const stream of streams) stream.close();
		await ssh?.stop();
	};

	return {
		address,

		async start(signal): Promise<Started> {
			const last = hooks.last?.();
			const before = now && !last?.startsWith(IDLE) ? now.instance.id : last;
			const notes: string[] = [];
			const { instance, made } = await ready(notes, signal);
			if (before !== undefined && before !== instance.id) removeKey(owner.home, before);
			await keepAlive(morph(), instance, settings, signal);
			if (now?.instance.id === instance.id) await now.ssh.start(signal);
			else {
				const ssh = await sshTo(instance, signal);
				await ssh.start(signal);
				await prepare(ssh, settings);
				now = { instance, ssh };
			}
			return {
				instance: instance.id,
				notes: [...lifeNotes(instance, before, made), ...notes],
				box: { id: digest(instance.id, 12), since: new Date(instance.created * 1000).toISOString() },
				...(settings.workdir === undefined ? {} : { cwd: settings.workdir }),
			};
		},

		async open(command, signal): Promise<Stream> {
			if (now === undefined) throw new HoldfastError("INTERNAL", "a stream was opened before the instance was started");
			const { instance, ssh } = now;
			const inner = await ssh.open(`. ~/${ENVIRONMENT}; ${command}`, signal);
			let closed = false;
			const stream: Stream = {
				...inner,
				close: () => {
					closed = true;
					inner.close();
				},
				ended: inner.ended.then(async (why) => (closed ? why : ((await fate(instance).catch((error: Error) => error.message)) ?? why))),
			};
			streams.add(stream);
			void inner.ended.then(() => streams.delete(stream));
			renew();
			return stream;
		},

		/** A paused instance is not over: its processes continue when it is woken. */
		async over(signal): Promise<Over | undefined> {
			const all = await instancesOf(morph(), owner, signal);
			const known = lastUsed();
			const found = firstOf(all);
			if (found !== undefined && (known === undefined || found.id === known)) return undefined;
			return { why: all.some(({ id }) => id === known && id !== found?.id) ? "the Morph instance has failed" : "the Morph instance was stopped", kept: false };
		},

		async whySilent() {
			return now && fate(now.instance);
		},

		async about() {
			return [`Morph at ${morph().base}`, `ssh by ${morph().ssh.host}:${morph().ssh.port}`];
		},

		async rest(): Promise<void> {
			await letGo();
			const found = firstOf(await instancesOf(morph(), owner));
			if (found?.status === "ready") await morph().pause(found.id);
		},

		async stop(): Promise<readonly string[]> {
			const known = lastUsed();
			await letGo();
			const all = await instancesOf(morph(), owner);
			const first = firstOf(all);
			if (settings.keep && first !== undefined) {
				if (first.status !== "ready") return [];
				await morph().pause(first.id);
				return [`The Morph instance ${first.id} was paused; its memory and files are kept.`];
			}
			const stopped: string[] = [];
			for (const { id } of all) {
				if (await morph().stop(id)) stopped.push(`The Morph instance ${id} of ${settings.snapshot} was stopped, with everything in it.`);
				removeKey(owner.home, id);
			}
			if (known !== undefined) removeKey(owner.home, known); // of an instance that was gone already
			return stopped;
		},
	};
}

const keepAlive = (morph: Morph, { id }: MorphInstance, { lifetime, onIdle }: MorphSettings, signal?: AbortSignal): Promise<void> =>
	morph.ttl(id, lifetime, onIdle, signal);

const ENVIRONMENT = ".holdfast-environment";

/**
 * Creates the directory of new shells, and writes the variables, whose values travel over the stream and appear in no argument. Completes the file
 * before it gets its name: another program may do the same at this moment.
 */
async function prepare(ssh: Host, { environment, workdir }: MorphSettings): Promise<void> {
	const text = exportText(environment);
	const make = workdir === undefined ? "" : `mkdir -p -- ${shellQuote(workdir)} || { echo holdfast:no-directory; exit; }; `;
	const script = `${make}umask 077; cat >~/${ENVIRONMENT}.$$ && mv ~/${ENVIRONMENT}.$$ ~/${ENVIRONMENT} && echo holdfast:done`;
	const stream = await ssh.open(`exec sh -c ${shellQuote(script)}`);
	const late = setTimeout(() => stream.close(), PREPARE_MS);
	let said = "";
	stream.output.on("data", (bytes: Buffer) => {
		said = (said + bytes).slice(-1_000);
	});
	const closed = new Promise((resolve) => stream.output.once("close", resolve));
	stream.input.end(text);
	const why = await stream.ended;
	await closed;
	clearTimeout(late);
	if (said.includes("holdfast:done")) return;
	if (said.includes("holdfast:no-directory"))
		throw new HoldfastError("NO_DIRECTORY", `there is no directory ${workdir} in the instance, and it cannot be made; choose another`);
	throw new HoldfastError("UNREACHABLE", `the Morph instance cannot be used: ${why}`);
}

function lifeNotes({ id, refs }: MorphInstance, before: string | undefined, made: boolean): string[] {
	if (before === undefined || before === id) return [];
	const [word, seconds] = before.split(" ");
	if (word === IDLE)
		return made ? [`The instance had not been used for ${timeText(Number(seconds))} and was stopped, with the files in it; this is a new one.`] : [];
	return [`The instance was gone and has been made again from ${refs.snapshot_id}: the files and processes that were in it are lost.`];
}
