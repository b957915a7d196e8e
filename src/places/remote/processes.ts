/** The processes of a remote machine: keeps their replicas current, and reaches them. */
import fs from "node:fs";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, errno, HoldfastError, type Identity, shellQuote } from "../../base/index.js";
import { asLastSeen, readRemoteState, siblingOf, starterIsGone, type Within } from "../../keeper/index.js";
import { BOOT, bridged, type PortAddress } from "../link/index.js";
import type { Followed, KeptProcess, MachineProcesses, Stdin } from "../machine.js";
import { isDrained } from "../sight.js";
import { StreamSocket } from "../stream-socket.js";
import { toCollector, toStdin } from "./fifos.js";
import type { RemoteMachine } from "./machine.js";
import { httpAnswersRemotely, type Probed, portOpensRemotely } from "./probes.js";
import { busyIn } from "./ready.js";
import { endsWithShell } from "./sight.js";
import { withdraw } from "./withdraw.js";

const BEGUN_LOOK_MS = 2_000;

/** Codes of a failed start: the machine may exist, but this program cannot reach it now. An expired login is DENIED. */
const AWAY: readonly ErrorCode[] = ["UNREACHABLE", "START_FAILED", "CONFLICT", "PENDING", "DENIED", "LIMIT", "UNSUPPORTED"];

export class RemoteProcesses implements MachineProcesses {
	readonly #machine: RemoteMachine;
	/** Processes that this program has tried to start, without knowing whether the start has arrived. */
	readonly #givenUp = new Set<string>();

	constructor(machine: RemoteMachine) {
		this.#machine = machine;
	}

	async sync(process: KeptProcess, { signal, ms }: { signal?: AbortSignal | undefined; ms?: number | undefined } = {}): Promise<string | undefined> {
		if (isSettled(process)) return undefined;
		const { reach } = this.#machine;
		const stop = new AbortController();
		const given = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
		const late = ms === undefined ? undefined : sleep(ms, "late" as const, { signal: stop.signal, ref: false });
		const failed = ms === undefined ? undefined : reach.failure(stop.signal).then(() => "failed" as const);
		const synced = this.#sync(process, given);
		try {
			const first = await (late && failed ? Promise.race([synced, late, failed]) : synced);
			if (first !== "late" && first !== "failed") return undefined;
			return this.#unreached(process, reach.trouble ?? `no answer within ${(ms ?? 0) / 1000} s`);
		} catch (error) {
			if (errno(error) === "ENOENT" && !fs.existsSync(process.dir)) return undefined; // another program has removed it meanwhile
			if (!(error instanceof HoldfastError) || !AWAY.includes(error.code)) throw error;
			return this.#unreached(process, reach.trouble ?? error.message);
		} finally {
			stop.abort();
			for (const rest of [synced, late]) rest?.catch(() => {}); // the loser of the race
		}
	}

	/** The remote machine decides whether the process has started at all, never an observation from before its starter was gone. */
	async #sync(process: KeptProcess, signal: AbortSignal): Promise<void> {
		const { id, dir, spec } = process;
		const { mirrors, reach } = this.#machine;
		const unstarted = starterIsGone(spec) || this.#givenUp.has(id);
		const shell = spec.within?.bash;
		await Promise.all([mirrors.sync(id, { signal, shell }), spec.within ? mirrors.sync(spec.within.shell, { signal }) : undefined]);
		if (endsWithShell(dir, spec)) await mirrors.sync(id, { signal, shell });
		if (!unstarted || !process.mayBeUnderWay()) return;
		try {
			await withdraw(reach, id, spec.within);
			await mirrors.sync(id, { signal, shell });
		} catch (error) {
			if (!(error instanceof HoldfastError) || error.code !== "ENDED") throw error;
			mirrors.lose(id, error.message); // with everything that ran on it
		}
	}

	#unreached({ id, dir, spec }: KeptProcess, reason: string): string {
		this.#machine.mirrors.unreachable(id, reason);
		return asLastSeen(spec.place, reason, readRemoteState(dir)?.at);
	}

	look(id: string, shell?: Identity): Promise<void> {
		return this.#machine.mirrors.sync(id, { shell });
	}

	follow(id: string, followed?: Followed): () => void {
		return this.#machine.mirrors.follow(id, followed);
	}

	watch(process: KeptProcess, changed: (name: string | null) => void): () => void {
		const { id, dir, spec } = process;
		const ends = [this.#machine.home.watch.directory(dir, changed), this.follow(id, { shell: spec.within?.bash }), this.#untilBegun(process)];
		if (spec.within) ends.push(this.follow(spec.within.shell), this.#watchShell(process, spec.within, changed)); // it may end with its shell
		return () => {
			for (const end of ends) end();
		};
	}

	/** Its own directory does not show the end of its shell: a look has to follow. */
	#watchShell(process: KeptProcess, { shell }: Within, changed: (name: string | null) => void): () => void {
		let looking = false;
		const look = async () => {
			if (looking || !endsWithShell(process.dir, process.spec)) return;
			looking = true;
			await this.sync(process).catch(() => {}); // a later look reports what is wrong
			looking = false;
		};
		void look();
		return this.#machine.home.watch.directory(siblingOf(process.dir, shell), (name) => {
			changed(name);
			void look();
		});
	}

	/** The program that was to start it may be killed meanwhile, without any event. */
	#untilBegun(process: KeptProcess): () => void {
		let timer: NodeJS.Timeout | undefined;
		const look = () => {
			if (!process.mayBeUnderWay()) return;
			if (starterIsGone(process.spec)) this.sync(process).catch(() => {}); // a later look reports what is wrong
			timer = setTimeout(look, BEGUN_LOOK_MS).unref();
		};
		look();
		return () => clearTimeout(timer);
	}

	tell(id: string, message: string): Promise<void> {
		return toCollector(this.#machine.reach, id, message);
	}

	stdin(process: KeptProcess): Stdin {
		return {
			type: () => false,
			write: async (bytes, signal) => {
				const unfollow = this.follow(process.id); // its end ends the write
				try {
					return await toStdin(this.#machine.reach, process.id, bytes, () => process.isOver(), signal);
				} finally {
					unfollow();
				}
			},
		};
	}

	async canAsk({ dir }: KeptProcess): Promise<boolean> {
		return readRemoteState(dir)?.lost === undefined && !(await this.#machine.reach.isOver());
	}

	portOpens(_process: KeptProcess, port: number, signal: AbortSignal): Promise<void> {
		return portOpensRemotely(this.#probed, port, signal);
	}

	httpAnswers(_process: KeptProcess, asked: { url: string; status: number | undefined }, signal: AbortSignal): Promise<void> {
		return httpAnswersRemotely(this.#probed, asked, signal);
	}

	async connect(_process: KeptProcess, to: PortAddress, signal?: AbortSignal): Promise<Duplex> {
		const stream = await bridged(await this.#machine.reach.stream(BOOT, signal), to, signal);
		return new StreamSocket(stream, (why) => new HoldfastError("UNREACHABLE", `the connection to ${this.#machine.name} has ended: ${why}`));
	}

	get #probed(): Probed {
		const { name, kernel, reach } = this.#machine;
		return { name, kernel, run: (script, options) => reach.run(script, options) };
	}

	/** Notes that the start may or may not have arrived, and is not retried. */
	giveUp(id: string): void {
		this.#givenUp.add(id);
	}

	/** Removes the remote directory without waiting. What stays because the machine is unreachable expires. `done`: nothing remote is left. */
	forget(id: string, done: () => void = () => {}): void {
		const { mirrors, commands, reach, files } = this.#machine;
		mirrors.forget(id);
		commands.forget(id);
		this.#givenUp.delete(id);
		if (!reach.login) {
			done(); // this program never made anything remote for it
			return;
		}
		const at = shellQuote(files.path(id));
		// A collector that holds its log for a shell ends when it is told to, not when its directory goes.
		reach.tidy(`[ -p ${at}/ctl ] && printf '\\nrelease\\n' 1<>${at}/ctl; rm -rf ${at} ${shellQuote(busyIn(reach.login, id))}`, done);
	}
}

/** Returns true if the process has ended, and all its output is in the replica. */
const isSettled = (process: KeptProcess): boolean => process.isOver() && isDrained(process.dir) && readRemoteState(process.dir)?.alive.length === 0;
