/** Where the commands of the cases run. The suite is the same for all; what differs between places is said here, and only here. */
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "../../src/index.js";
import { atEnd, testRoot } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";
import type { OpenDoor } from "./door.js";
import { insideSandbox, type Pids } from "./pids.js";

export interface ContractPlace {
	/** As the table in docs/places.md calls it. */
	readonly name: string;
	/** Why it cannot be had on this machine; undefined when it can. */
	readonly missing?: string | undefined;
	/** What all cases share: before the first of them, and after the last. */
	start?(): Promise<void>;
	stop?(): Promise<void>;
	/** Reach the tools with this place for their commands. `end` is for what is left in a home after a case, when all in it has been killed. */
	readonly open: OpenDoor;
	end?(home: string): Promise<void>;
	/** Closing what `open` has opened ends all that it started, with a look that it is gone. Elsewhere all in the home is killed afterwards. */
	readonly endsTasks?: true;
	/** Where a new shell starts. */
	cwd(): string;
	/** What `list` says it is. */
	readonly listed: RegExp;
	/** A new directory for a case, where another one than usual is needed for it to be at the same path there as here. */
	dir?(): string;
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
	open: async ({ home, task }) => {
		const runtime = await openRuntime({ home, task, warm: 0 });
		atEnd(() => runtime.close());
		return { call: (tool, args) => runtime[tool](args) };
	},
	cwd: () => process.cwd(),
	listed: /^local$/,
};

export const inSandbox: ContractPlace = {
	name: "local+sandbox",
	missing: noSandbox,
	// The tests look at files that commands write, and have servers that commands talk to.
	open: async ({ home, task }) => {
		const runtime = await openRuntime({ home, task, warm: 0, place: "local+sandbox", sandbox: { network: true, write: [testRoot()] } });
		atEnd(() => runtime.close());
		return { call: (tool, args) => runtime[tool](args) };
	},
	cwd: () => process.cwd(),
	listed: /^local\+sandbox$/,
	pids: insideSandbox,
};

/**
 * A door to a place that the configuration names: `entry` is what stands there under `places`. When the case is over the task is ended
 * there, with a look that nothing of it is left.
 */
export function configured(entry: () => Record<string, unknown>): OpenDoor {
	return async ({ home, task }) => {
		const config = path.join(home, "test-config");
		fs.mkdirSync(path.join(config, "holdfast"), { recursive: true, mode: 0o700 });
		fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places: { box: entry() } }), { mode: 0o600 });
		const before = process.env.XDG_CONFIG_HOME;
		process.env.XDG_CONFIG_HOME = config;
		const runtime = await openRuntime({ home, task, warm: 0, place: "box" });
		atEnd(async () => {
			const { gone, notes } = await runtime.endTask(task);
			await runtime.close();
			if (before === undefined) delete process.env.XDG_CONFIG_HOME;
			else process.env.XDG_CONFIG_HOME = before;
			if (!gone) throw new Error(`the task could not be ended: ${notes.join(" ")}`);
		});
		return { call: (tool, args) => runtime[tool](args) };
	};
}
