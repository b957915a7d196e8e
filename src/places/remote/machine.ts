/** A remote machine with everything of this home on it: process directories, our scripts, and the one link to them. */
import path from "node:path";
import type { Home, Kernel } from "../../base/index.js";
import { type Files, linkEnd, remoteFiles } from "../files/index.js";
import type { BoxIdentity, Host } from "../host.js";
import type { LineOf } from "../line.js";
import type { Collector, Equipment, Machine } from "../machine.js";
import type { Place } from "../place.js";
import { remoteCollector } from "./collector.js";
import { Commands } from "./commands.js";
import { checkRemoteDirectory, remoteDirectoryOf } from "./directory.js";
import { RemoteKeepers } from "./keepers.js";
import { remoteKernel } from "./kernel.js";
import { RemoteLine } from "./line.js";
import { Mirrors } from "./mirrors.js";
import { RemoteProcessFiles } from "./process-files.js";
import { RemoteProcesses } from "./processes.js";
import { Reach, type ReachOptions } from "./reach.js";

export interface RemoteOptions extends Omit<ReachOptions, "onTrouble" | "deadlines"> {
	readonly key: string;
	/** The machine can be removed with everything in it. */
	readonly container?: boolean;
}

export class RemoteMachine implements Machine {
	readonly key: string;
	readonly sharesPaths = false;
	readonly kernel: Kernel;
	/** The connection to it. */
	readonly reach: Reach;
	/** The replicas of its processes. */
	readonly mirrors: Mirrors;
	/** Sends lines to its shells. */
	readonly commands: Commands;
	readonly files: RemoteProcessFiles;
	readonly fileSystem: Files;
	readonly processes: RemoteProcesses;
	readonly home: Home;
	readonly #container: boolean;
	#keepers: RemoteKeepers | undefined;

	constructor(host: Host, home: Home, { key, container = false, ...options }: RemoteOptions) {
		this.key = key;
		this.home = home;
		this.#container = container;
		const reach = new Reach(host, { ...options, deadlines: home.deadlines, onTrouble: (reason) => this.mirrors.allUnreachable(reason) });
		this.reach = reach;
		this.mirrors = new Mirrors(home, reach, { container });
		this.files = new RemoteProcessFiles(home, reach);
		this.commands = new Commands(reach, this.files, { container });
		this.kernel = remoteKernel((work, how) => reach.ask(work, how));
		this.fileSystem = remoteFiles(linkEnd({ use: (work, { signal }) => reach.use(work, { signal }) }));
		this.processes = new RemoteProcesses(this);
	}

	get name(): string {
		return this.reach.name;
	}

	get life(): string {
		return this.reach.life;
	}

	get box(): BoxIdentity | undefined {
		return this.reach.box;
	}

	get trouble(): string | undefined {
		return this.reach.trouble;
	}

	get connected(): boolean {
		return this.reach.connected;
	}

	get account(): { home: string; own: string } | undefined {
		const { login } = this.reach;
		return login && { home: login.environment.HOME ?? "/", own: login.directory };
	}

	/** Created with the first start: it cleans up after earlier programs. */
	get keepers(): RemoteKeepers {
		this.#keepers ??= new RemoteKeepers(this.home, this);
		return this.#keepers;
	}

	async ready(signal?: AbortSignal): Promise<Equipment> {
		const { directory, memory, ...ready } = await this.reach.ready(signal);
		return { ...ready, procs: `${directory}/procs`, ...(memory && this.#container ? { memory } : {}) };
	}

	async place(asked = "."): Promise<Place> {
		const cwd = path.posix.resolve((await this.reach.ready()).cwd, asked);
		return {
			name: this.name,
			cwd,
			machine: this,
			sees: "nothing",
			files: this.fileSystem,
			at: (file) => file,
			directory: (asked = ".") => path.posix.resolve(cwd, asked), // the remote keeper reports a missing directory
			birthplace: () => cwd, // the shell moves to another by itself
		};
	}

	/** The memory limit of a container, once it has been reached. The limits of an SSH machine are not ours. */
	get memory(): { readonly most: number; readonly counts: string } | undefined {
		return this.#container ? this.reach.login?.memory : undefined;
	}

	async memoryKills(): Promise<number | undefined> {
		const file = this.memory?.counts;
		if (file === undefined) return undefined;
		const [counts] = await this.reach.use((link) => link.look([{ ask: "content", path: file }]));
		return Number(/^oom_kill (\d+)$/m.exec(`${counts}`)?.[1] ?? 0);
	}

	line(shell: LineOf, changed: () => void): RemoteLine {
		return new RemoteLine(this, shell, changed);
	}

	collector(dir: string): Collector {
		return remoteCollector(dir);
	}

	directoryOf(pid: number): Promise<string | undefined> {
		return remoteDirectoryOf(this.kernel, pid);
	}

	realPath(file: string): string {
		return file;
	}

	checkDirectory(dir: string, { cwd }: { readonly cwd: string }): Promise<void> {
		return checkRemoteDirectory(this.reach, dir, cwd);
	}
}
