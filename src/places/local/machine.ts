/** The local machine. Its keepers work in the directories of the home, so nothing has to be transferred, and every answer is immediate. */
import fs from "node:fs";
import path from "node:path";
import {
	asset,
	errno,
	fromSystem,
	HoldfastError,
	type Home,
	hostIdentity,
	localKernel,
	ownEnvironment,
	realPath,
	sameHost,
	statIfThere,
	writeFifo,
} from "../../base/index.js";
import { type Keepers, procDir, tryAgain } from "../../keeper/index.js";
import { localFiles } from "../files/index.js";
import type { LineOf } from "../line.js";
import type { Equipment, Machine, MachineKeepers, MachineProcesses, ProcessFiles } from "../machine.js";
import type { Place } from "../place.js";
import { LocalCollector } from "./collector.js";
import { connectTo } from "./connect.js";
import { directoryOf } from "./directory.js";
import { connectInside, httpAnswersInside, portOpensInside } from "./inside.js";
import { LocalLine } from "./line.js";
import { localPlace } from "./place.js";
import { httpAnswers, portOpens } from "./probes.js";
import { LocalStdin } from "./stdin.js";
import { ProcessWatch } from "./watch.js";

const DONE = Promise.resolve();
const UNKNOWN = Promise.resolve(undefined);
const nothing = (): void => {};

export class LocalMachine implements Machine {
	readonly name = "this machine";
	readonly key = undefined;
	readonly sharesPaths = true;
	readonly life = "";
	readonly box = undefined;
	readonly trouble = undefined;
	readonly connected = true;
	readonly account = undefined;
	readonly realPath = realPath;
	readonly fileSystem = localFiles();
	readonly kernel = localKernel;
	readonly keepers: MachineKeepers;
	readonly processes: MachineProcesses;
	readonly files: ProcessFiles;
	readonly home: Home;
	readonly #keepers: Keepers;
	readonly #watch: ProcessWatch;

	constructor(home: Home, keepers: Keepers) {
		this.home = home;
		this.#keepers = keepers;
		this.#watch = new ProcessWatch(home.watch);
		this.keepers = {
			launch: (prepare, { task }) => keepers.launch(task, prepare),
			hold: (limits) => keepers.hold(limits).finally(() => keepers.warmUp()),
			start: tryAgain,
			groups: true,
			startMs: Number.POSITIVE_INFINITY,
		};
		this.processes = {
			sync: () => UNKNOWN,
			look: () => DONE,
			follow: () => nothing,
			watch: (process, changed) => this.#watch.watch(process, changed),
			tell: (id, message) => tell(procDir(home, id), message),
			stdin: (process) => new LocalStdin(process, this.#watch),
			canAsk: async ({ spec }) => sameHost(spec.host, hostIdentity()),
			portOpens: ({ dir, spec }, port, signal) => (spec.ownNetwork ? portOpensInside(dir, spec, port, signal) : portOpens(port, signal)),
			httpAnswers: ({ dir, spec }, asked, signal) =>
				spec.ownNetwork ? httpAnswersInside(dir, spec, asked, signal) : httpAnswers(asked.url, asked.status, signal),
			connect: ({ dir, spec }, to, signal) => (spec.ownNetwork ? connectInside(dir, spec, to, signal) : connectTo(to, signal)),
			forget: nothing,
		};
		this.files = {
			path: (id, name) => path.join(procDir(home, id), name),
			put: nothing,
			remove: nothing,
			fetch: async () => true,
			arrival: () => DONE,
			discard: () => DONE,
		};
	}

	async ready(): Promise<Equipment> {
		return {
			tools: this.#keepers.tools,
			environment: ownEnvironment(),
			umask: process.umask(),
			scripts: path.resolve(asset("")),
			procs: this.home.procs,
		};
	}

	/** Not a promise: this is called before every command. */
	place(asked: string | undefined, own: () => string): Place {
		return localPlace(this, asked ?? own());
	}

	memoryKills(): Promise<undefined> {
		return UNKNOWN;
	}

	line(shell: LineOf, changed: () => void): LocalLine {
		return new LocalLine(shell, changed, this.#watch.guards);
	}

	collector(dir: string): LocalCollector {
		return new LocalCollector(dir);
	}

	async directoryOf(pid: number): Promise<string | undefined> {
		return directoryOf(pid);
	}

	async checkDirectory(dir: string, { at }: { at(file: string): string }): Promise<void> {
		const stat = statIfThere(at(dir));
		if (!stat) throw new HoldfastError("INVALID", `the working directory ${dir} does not exist; nothing ran, so make it first or give one that exists`);
		if (!stat.isDirectory()) throw new HoldfastError("INVALID", `the working directory ${dir} is not a directory; nothing ran, so give one that is`);
	}
}

/** The leading newline separates the message from what dd may be writing. It is written before this returns, unless the FIFO is full. */
async function tell(dir: string, message: string): Promise<void> {
	try {
		await writeFifo(fs.openSync(path.join(dir, "ctl"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK), Buffer.from(`\n${message}\n`));
	} catch (error) {
		if (errno(error) !== "ENXIO" && errno(error) !== "ENOENT") throw fromSystem(error, `cannot reach the keeper of ${path.basename(dir)}`); // the keeper has gone
	}
}
