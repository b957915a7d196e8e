/**
 * Starts processes on a remote machine. The directory is made twice: remotely, for the keeper, and locally, as its replica and
 * as the entry in the registry. A start can be retried after a broken link: it never starts a process twice.
 */
import fs from "node:fs";
import path from "node:path";
import { fromSystem, HoldfastError, type Home, namesIn, newId, readIfThere, shellQuote, unlinkIfThere, until, watchAll } from "../../base/index.js";
import {
	type Berth,
	Claims,
	desertedBy,
	FIXED_RECORDS,
	type Held,
	hasStarted,
	type KeptLimits,
	type Launch,
	type Plan,
	planFiles,
	procDir,
	readExit,
	readRemoteState,
	retire,
	type Spec,
} from "../../keeper/index.js";
import type { MachineKeepers } from "../machine.js";
import type { RemoteMachine } from "./machine.js";
import { INLINE } from "./process-files.js";
import { busyIn } from "./ready.js";

/** Not sent to the remote machine: the files that it makes itself, and those that are only meaningful locally. */
const OURS = new Set([...FIXED_RECORDS, "spec.json", "there"]);
const START_MS = 30_000;
const PIDS_MAX = ["/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"]; // of a container, version 2 and 1
const PIDS_NEEDED = 10; // our own; a start that runs out of room halfway would leave a process without a log
const NO_PIDS = 7;
const NO_SCRIPTS = 8;
/** Only the shell's own commands. */
const ROOM = `for x in ${PIDS_MAX.join(" ")}; do
	{ [ -r $x ] && read -r most <$x && read -r now <\${x%max}current; } 2>/dev/null || continue
	[ "$most" = max ] || [ $((most - now)) -ge ${PIDS_NEEDED} ] || exit ${NO_PIDS}
done`;
const NO_LINK = "3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-"; // a keeper must not inherit descriptors of the link

/**
 * A background job of sh could never be interrupted: INT and QUIT would stay ignored. The second setsid leads a session of its own, so
 * it forks, and waits for none of its children. A started process closes the output, which ends the wait.
 */
const BEGIN = `busy=$1; shift
if [ -n "$busy" ]; then
	read -r stat </proc/$$/stat
	echo "$$ $(set -f; set -- \${stat##*) }; shift 19; echo "$1")" >"$busy"
fi
exec "$@" >/dev/null`;

export class RemoteKeepers implements MachineKeepers {
	readonly groups = false;
	readonly startMs = 60_000;
	readonly #home: Home;
	readonly #machine: RemoteMachine;
	readonly #claims: Claims;

	constructor(home: Home, machine: RemoteMachine) {
		this.#home = home;
		this.#machine = machine;
		this.#claims = new Claims(home);
		void machine.reach.ready().then(
			() => this.#sweep(),
			() => {}, // a caller that needs it gets the error
		);
	}

	/** Removes remote directories that killed programs had prepared and never used. */
	#sweep(): void {
		for (const name of namesIn(this.#home.blank)) {
			const id = desertedBy(this.#home, name);
			if (!id || readIfThere(path.join(procDir(this.#home, id), "box")) !== this.#machine.key) continue;
			this.#machine.processes.forget(id, () => this.#retire(id, path.join(this.#home.blank, name))); // unreachable: the next program retries
		}
	}

	/** A remote start may have happened unseen, so it is never repeated. */
	start<T>(start: () => Promise<T>): Promise<T> {
		return start();
	}

	/** A running process that is no shell keeps its machine in use. */
	async launch(prepare: (berth: Berth) => Plan, { kind }: { readonly kind: Spec["kind"] }): Promise<Launch> {
		const { tools } = await this.#machine.reach.ready();
		const { id, dir } = this.#replica();
		try {
			const plan = prepare({ id, dir, group: undefined });
			const files = new Map(contentsOf(dir));
			for (const [name, text] of planFiles(plan, tools)) files.set(name, Buffer.from(text));
			this.#claims.show(id);
			await this.#start(id, files, { word: "go", marked: kind === undefined });
		} catch (error) {
			// Nothing runs, or that is unknown: then the entry stays, and a later look finds out.
			if (error instanceof HoldfastError && error.code === "UNREACHABLE") this.#machine.processes.giveUp(id);
			else this.#undo(id, error);
			throw fromSystem(error, "cannot start a process");
		}
		return { id, dir, keeperGone: Promise.resolve(), started: () => {} };
	}

	/** `spare`: only if that takes no new link, which might restart a machine that was ended on purpose. */
	async hold({ output = 0, output_rate = 0 }: Pick<KeptLimits, "output" | "output_rate">, { spare }: { readonly spare: boolean }): Promise<Held> {
		if (spare && !this.#machine.connected) throw new HoldfastError("UNREACHABLE", `there is no link to ${this.#machine.name} now`);
		await this.#machine.reach.ready();
		const { id, dir } = this.#replica();
		try {
			await this.#start(id, new Map(), { word: `keep ${output} ${output_rate}`, marked: false, again: !spare });
			await this.untilStarted(id, dir);
		} catch (error) {
			this.#undo(id, error);
			throw fromSystem(error, "cannot make a log for a command");
		}
		return {
			id,
			dir,
			show: () => this.#claims.show(id),
			hide: () => this.#claims.hide(id),
			early: true,
			letGo: () => this.#home.deadlines.afterwards(() => this.#machine.processes.tell(id, "release")).catch(() => {}), // a collector that is gone or unreachable ends by itself some day
			remove: () => this.#drop(id),
			retire: () => this.#drop(id),
		};
	}

	/** Waits until the process has started. Throws if it never does. */
	async untilStarted(id: string, dir: string): Promise<void> {
		const hasBegun = (): true | undefined => {
			if (hasStarted(dir)) return true;
			const end = readExit(dir);
			const gone = readRemoteState(dir)?.lost;
			if (gone !== undefined) throw new HoldfastError("START_FAILED", `nothing ran: ${gone}`);
			if (end && end.kind !== "exit") throw new HoldfastError("START_FAILED", `nothing ran: ${end.reason}`);
		};
		const watch = watchAll(
			(poke) => this.#home.watch.directory(dir, poke),
			() => this.#machine.mirrors.follow(id),
		);
		if (!(await until(watch, hasBegun, { deadline: performance.now() + START_MS })))
			throw new HoldfastError("START_FAILED", `nothing ran: its keeper on ${this.#machine.name} did not come up`);
	}

	async #start(
		id: string,
		files: ReadonlyMap<string, Buffer>,
		{ word, marked, again = true }: { word: string; marked: boolean; again?: boolean },
	): Promise<void> {
		const ready = await this.#machine.reach.ready();
		const { tools } = ready;
		const at = this.#machine.files.path(id);
		const long = [...files].filter(([, content]) => content.length > INLINE);
		const busy = marked ? busyIn(ready, id) : "";
		const { sh, dd, rm, sleep, stty, fallocate, df, subreaper } = tools;
		const keeper = [...(subreaper ?? []), sh, `${tools.scripts}/keeper.sh`, "keep", at, busy, "", "", "", dd, rm, sleep, stty, fallocate ?? "", df ?? ""];
		const make = [
			`if [ ! -d ${shellQuote(at)}/started ]; then ${ROOM}; fi`,
			`umask 077; cd / && mkdir -p ${shellQuote(path.dirname(at))} && { mkdir ${shellQuote(at)} 2>/dev/null || [ -d ${shellQuote(at)} ]; } && cd ${shellQuote(at)} || exit 1`,
			"[ -d started ] || [ -L started ] && exit 0", // once; or withdrawn
			`[ -f ${shellQuote(`${tools.scripts}/keeper.sh`)} ] || exit ${NO_SCRIPTS}`, // otherwise no keeper would start, without an error
			`for name in ${FIXED_RECORDS.join(" ")}; do printf '%-63s\\n' '' >$name || exit 1; done`,
			"rm -f in pipe ctl take; mkfifo -m 600 in pipe ctl take || exit 1",
			...[...files].filter(([name]) => name.includes("/")).map(([name]) => `mkdir -p ${path.dirname(name)}`),
			...[...files]
				.filter(([, content]) => content.length <= INLINE)
				.map(([name, content]) => `printf %s ${shellQuote(content.toString("utf8"))} >${name} || exit 1`),
		];
		const counts = this.#machine.memory?.counts;
		const go = [
			"mkdir started 2>/dev/null || exit 0",
			...(counts ? [`while read -r word number; do [ "$word" = oom_kill ] && echo "${counts} $number" >counted; done <${counts}`] : []),
			...(busy ? [`mkdir -p ${shellQuote(path.dirname(busy))}`] : []),
			`none=$(printf '${word}\\n' | env -i ${tools.setsid} ${tools.setsid} ${sh} -c ${shellQuote(BEGIN)} ${sh} ${[busy, ...keeper].map(shellQuote).join(" ")} 2>/dev/null ${NO_LINK})`,
			"exit 0",
		];
		const run = async (lines: readonly string[], remade = false): Promise<void> => {
			const ran = await this.#machine.reach.run(lines.join("\n"), { starts: true, again }).catch((error) => {
				if (error instanceof HoldfastError && error.code === "LIMIT") return undefined;
				throw error;
			});
			if (!ran && (await this.#machine.kernel.inodes([`${at}/started`]))[0]) return; // before the link broke
			if (!ran || ran.status === NO_PIDS || /fork/i.test(ran.error)) throw await this.#noRoom(!ran || ran.status === NO_PIDS);
			const { status } = ran;
			const said = (ran.error || ran.output.toString()).trim();
			if (status === NO_SCRIPTS && !remade) {
				await this.#machine.reach.makeReadyAgain();
				return run(lines, true);
			}
			if (status !== 0)
				throw new HoldfastError(
					/No space left/i.test(said) ? "NO_SPACE" : "START_FAILED",
					`nothing ran: its directory on ${this.#machine.name} could not be made (${said || "no reason given"}); is the disk full, or read-only?`,
				);
		};
		if (long.length === 0) await run([...make, ...go]);
		else {
			await run(make);
			for (const [name, content] of long) await this.#machine.files.write(`${at}/${name}`, content);
			await run([`cd ${shellQuote(at)} || exit 1`, ...go]);
		}
		this.#machine.mirrors.made(id);
	}

	/** `unmade`: nothing of it exists remotely. */
	async #noRoom(unmade: boolean): Promise<HoldfastError> {
		const most = (await this.#machine.kernel.read(PIDS_MAX)).map((text) => Number.parseInt(text ?? "", 10)).find((number) => number > 0);
		const why = most === undefined ? "it may have no more processes" : `it may have ${most} processes and threads at once (\`pids\`), and they are in use`;
		return new HoldfastError(
			unmade ? "LIMIT" : "START_FAILED",
			`nothing ran: nothing more can be started on ${this.#machine.name}: ${why}. End what is not needed (process list, kill); only the person who runs this can change the limit`,
		);
	}

	#replica(): { id: string; dir: string } {
		const id = newId();
		const dir = this.#claims.make(id, ["spec.json", "command"]);
		fs.writeFileSync(path.join(dir, "box"), this.#machine.key, { mode: 0o600 });
		return { id, dir };
	}

	/**
	 * Removes the local directory once the remote one is gone, or makes it a part of the transcript. Until then the claim marks it as unfinished, for the
	 * next program that reaches the machine.
	 */
	#drop(id: string): void {
		this.#claims.take(id);
		unlinkIfThere(path.join(this.#home.live, id));
		this.#machine.processes.forget(id, () => this.#retire(id, this.#claims.file(id)));
	}

	#retire(id: string, claim: string): void {
		try {
			if (!retire(this.#home, id, claim)) this.#claims.remove(id, claim);
		} catch {
			// the home was removed, or its disk is full: then the claim stays, and the next program retries
		}
	}

	#undo(id: string, error: unknown): void {
		if (error instanceof HoldfastError && error.code === "LIMIT") {
			unlinkIfThere(path.join(this.#home.live, id));
			this.#claims.remove(id); // nothing of it exists remotely
		} else this.#drop(id);
	}
}

/** Returns the local files of the directory to send, by name. */
function contentsOf(dir: string, below = ""): Map<string, Buffer> {
	const found = new Map<string, Buffer>();
	for (const name of namesIn(path.join(dir, below))) {
		const full = path.join(below, name);
		if (OURS.has(full) || full === "box") continue;
		if (fs.statSync(path.join(dir, full)).isDirectory()) for (const entry of contentsOf(dir, full)) found.set(...entry);
		else found.set(full, fs.readFileSync(path.join(dir, full)));
	}
	return found;
}
