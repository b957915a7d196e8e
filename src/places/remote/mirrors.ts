/** The replicas of the processes on one machine, with a mirror for each. */
import type { Home, Identity } from "../../base/index.js";
import { procDir } from "../../keeper/index.js";
import type { Followed } from "../machine.js";
import { goneFor, type Looker } from "./look.js";
import { Mirror, type MirrorSource } from "./mirror.js";
import type { Reach } from "./reach.js";
import { directoryIn } from "./ready.js";
import type { LookRequest, Seen } from "./seen.js";

const REMEMBERED = 256;

export class Mirrors {
	readonly #home: Home;
	readonly #reach: Reach;
	readonly #container: boolean;
	readonly #mirrors = new Map<string, Mirror>();
	/** By pid: the state of a shell when any of its commands was last looked at. */
	readonly #shells = new Map<number, Pick<Seen, "children" | "reaped" | "idle">>();

	constructor(home: Home, reach: Reach, { container }: { container: boolean }) {
		this.#home = home;
		this.#reach = reach;
		this.#container = container;
	}

	/** Updates the replica of a process. `shell`: the shell whose command it is. */
	sync(id: string, { signal, shell }: { signal?: AbortSignal | undefined; shell?: Identity | undefined } = {}): Promise<void> {
		const mirror = this.#of(id);
		if (shell) mirror.shell = shell;
		return this.#reach.inTime(mirror.sync(signal));
	}

	/** Keeps it current until the returned function is called. */
	follow(id: string, { shell, within }: Followed = {}): () => void {
		const mirror = this.#of(id);
		if (shell) mirror.shell = shell;
		if (within) mirror.within = within;
		return this.#home.deadlines.afterwards(() => mirror.follow()); // it continues after the call
	}

	/** Records that a process cannot be reached. */
	unreachable(id: string, reason: string): void {
		this.#of(id).unreachable(reason);
	}

	/** The same for all processes that a caller follows. */
	allUnreachable(reason: string): void {
		for (const mirror of this.#mirrors.values()) if (mirror.followed) mirror.unreachable(reason);
	}

	made(id: string): void {
		this.#of(id).made();
	}

	lose(id: string, reason: string): void {
		this.#of(id).lose(reason);
	}

	forget(id: string): void {
		this.#mirrors.get(id)?.drop();
		this.#mirrors.delete(id);
	}

	lastSeen(pid: number): Pick<Seen, "children" | "reaped" | "idle"> | undefined {
		return this.#shells.get(pid);
	}

	#of(id: string): Mirror {
		const known = this.#mirrors.get(id);
		if (known) return known;
		const reach = this.#reach;
		const source: MirrorSource = {
			look: (looker, wanted, how) => this.#look(id, looker, wanted, how),
			get skew() {
				return reach.skew;
			},
			get boot() {
				return reach.boot;
			},
		};
		const mirror = new Mirror(source, procDir(this.#home, id));
		this.#mirrors.set(id, mirror);
		return mirror;
	}

	async #look(id: string, looker: Looker, wanted: LookRequest, how: Parameters<MirrorSource["look"]>[2]): Promise<Seen> {
		const looked = await this.#reach.look((link, ready) => looker.look(link, wanted, directoryIn(ready, id), how.signal), how);
		if ("over" in looked) return goneFor(looked.over.why, looked.over.kept);
		const { found } = looked;
		if (wanted.shell) this.#remember(wanted.shell.pid, found);
		return found.gone && found.alive.length === 0 && this.#container
			? goneFor("the container that it ran in was removed, or its directory in there", false)
			: found;
	}

	#remember(shell: number, seen: Seen): void {
		this.#shells.delete(shell);
		this.#shells.set(shell, seen);
		for (const pid of this.#shells.keys()) {
			if (this.#shells.size <= REMEMBERED) break;
			this.#shells.delete(pid);
		}
	}
}
