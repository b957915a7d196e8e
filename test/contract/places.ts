/**
 * Where the commands of the cases run. The suite is the same for all; what differs between places is said here, and only here.
 *
 * A new kind of place: its ContractPlace in a file beside this one (`open: configured(() => entry)`, where `entry` is what a person writes
 * under `places` in config.json), and a test file with one line, `placeSuite(it)`. `npm run matrix` finds it by that line.
 */
import fs from "node:fs";
import path from "node:path";
import { atEnd, testRoot } from "../support/home.js";
import { openRuntime, type RuntimeOptions } from "../support/internal.js";
import { noSandbox } from "../support/sandbox.js";
import type { Doors, OpenDoors } from "./door.js";
import { insideSandbox, type Pids } from "./pids.js";

export interface ContractPlace {
	/** As the table in docs/places.md calls it. */
	readonly name: string;
	/** Why it cannot be had on this machine; undefined when it can. */
	readonly missing?: string | undefined;
	/** What all cases share: before the first of them, and after the last. */
	start?(): Promise<void>;
	stop?(): Promise<void>;
	/** Opens the way to the tools, with this place for their commands. `end` ends what still runs for a home after its last task: a connection. */
	readonly open: OpenDoors;
	end?(home: string): Promise<void>;
	/** Where a new shell starts. */
	cwd(): string;
	/** What `list` says it is. */
	readonly listed: RegExp;
	/** A new directory for a case, where another one than usual is needed for it to be at the same path there as here. */
	dir?(): string;
	/** It is made anew when it is gone, so results say which one they are from. */
	readonly boxed?: true;
	/** It ends at a time, whatever runs in it: the first result of a task says when. */
	readonly ends?: true;
	/** Who its commands run as, if not as the tests do. The directory of a case is his: it is at the same path there as here. */
	readonly owner?: number;
	/** Its network is not that of this machine: what answers everything there with 404. */
	readonly server?: { readonly port: number; readonly command: string };
	/** What a pid of it is on this machine. */
	readonly pids?: Pids;
	/** What it cannot do: the name of a case, or of a group of them, and why. */
	readonly cannot?: Readonly<Record<string, string>>;
}

export const here: ContractPlace = {
	name: "local",
	open: async ({ home }) => localDoors({ home }),
	cwd: () => process.cwd(),
	listed: /^local$/,
};

export const inSandbox: ContractPlace = {
	name: "local+sandbox",
	missing: noSandbox,
	// The tests look at files that commands write, and have servers that commands talk to.
	open: async ({ home }) => localDoors({ home, place: "local+sandbox", sandbox: { network: true, write: [testRoot()] } }),
	cwd: () => process.cwd(),
	listed: /^local\+sandbox$/,
	pids: insideSandbox,
};

/** Ends tasks in a home, and has no shells of its own. */
export async function ending(home: string): Promise<Pick<Doors, "endTask">> {
	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => runtime.close());
	return { endTask: (task) => runtime.endTask(task) };
}

/** A runtime for each task: the logs that one keeps ready belong to no task, and go when it is closed. */
async function localDoors(options: RuntimeOptions & { home: string }): Promise<Doors> {
	return {
		...(await ending(options.home)),
		forTask: async (task) => {
			const runtime = await openRuntime({ warm: 0, task, ...options });
			atEnd(() => runtime.close());
			return { call: (tool, args) => runtime[tool](args) };
		},
	};
}

/**
 * Doors to a place that the configuration names: `entry` is what stands there under `places`. One runtime serves all tasks. A first one has
 * come and gone, so what lasts longer than a task, a login or a link, is there.
 */
export function configured(entry: () => Record<string, unknown>): OpenDoors {
	return async ({ home }) => {
		const config = path.join(home, "test-config");
		fs.mkdirSync(path.join(config, "holdfast"), { recursive: true, mode: 0o700 });
		fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places: { box: entry() } }), { mode: 0o600 });
		const before = process.env.XDG_CONFIG_HOME;
		process.env.XDG_CONFIG_HOME = config;
		atEnd(() => {
			if (before === undefined) delete process.env.XDG_CONFIG_HOME;
			else process.env.XDG_CONFIG_HOME = before;
		});
		const runtime = await openRuntime({ home, place: "box", warm: 0 });
		atEnd(() => runtime.close());
		await runtime.terminal({ command: "true" }, { task: "the first" });
		await runtime.endTask("the first");
		return {
			forTask: async (task) => ({ call: (tool, args) => runtime[tool](args, { task }) }),
			endTask: (task) => runtime.endTask(task),
		};
	};
}
