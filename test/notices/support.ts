import fs from "node:fs";
import path from "node:path";
import { taskKey } from "../../src/base/ids.js";
import type { Clock } from "../../src/notices/clock.js";
import { type Notice, Notices, type StreamOptions, type Wishes } from "../../src/notices/index.js";
import type { SpawnOptions } from "../../src/process/options.js";
import { atEnd, until } from "../support/home.js";
import type { Process, Runtime } from "../support/internal.js";

/** Time passes when the test says so. */
export { FakeClock as TestClock } from "../../src/api/testing.js";

export function testNotices(runtime: Runtime, clock?: Clock): Notices {
	const notices = new Notices(runtime, { clock });
	atEnd(() => notices.close());
	return notices;
}

/** Start a process with notices about it asked for beforehand. */
export const spawnArmed = (runtime: Runtime, notices: Notices, options: SpawnOptions, wishes: Wishes): Promise<Process> =>
	runtime.spawn(options, { prepare: (process) => void notices.arm(process, wishes) });

/** Everything a stream brings, from now on. */
export class Listener {
	readonly got: Notice[] = [];
	readonly ended: Promise<void>;
	readonly #stop = new AbortController();

	/** `all`: of every task. */
	constructor(notices: Notices, task: string | undefined = "default", options: StreamOptions & { readonly all?: boolean } = {}) {
		this.ended = this.#listen(notices, task, options);
	}

	async #listen(notices: Notices, task: string, { all, ...options }: StreamOptions & { readonly all?: boolean }): Promise<void> {
		for await (const notice of notices.stream({ signal: this.#stop.signal, ...options, ...(all ? {} : { task }) })) this.got.push(notice);
	}

	/** Wait until there are so many; those. */
	async has(count: number): Promise<Notice[]> {
		await until(`${count} notices`, () => this.got.length >= count);
		return this.got;
	}

	async stop(): Promise<void> {
		this.#stop.abort();
		await this.ended;
	}

	get kinds(): string[] {
		return this.got.map(({ kind }) => kind);
	}
}

export const taskDir = (runtime: Runtime, task = "default"): string => path.join(runtime.home.notices, taskKey(task));

/** What is noted about an armed process; undefined when there is nothing more to tell. */
export function armedState(runtime: Runtime, process: Process): { limit: { suppressed: number }; search: { offset: number }; patterns: string[] } | undefined {
	try {
		return JSON.parse(fs.readFileSync(path.join(taskDir(runtime, process.spec.task), `armed.${process.id}`), "utf8"));
	} catch {
		return undefined;
	}
}
