/** A machine over SSH with a home here that knows it: for tests of what goes wrong on the way. */
import fs from "node:fs";
import path from "node:path";
import { namesIn } from "../../src/base/files.js";
import { readProc } from "../../src/base/proc.js";
import { ProcessSnapshot } from "../../src/process/tree.js";
import { atEnd, tempDir } from "./home.js";
import type { Runtime } from "./internal.js";
import { openOnBox } from "./on-box.js";
import { type Sshd, type SshdOptions, startSshd } from "./sshd.js";

export { TASK } from "./on-box.js";

/** For an entry: a silent network is found out soon, and whoever cannot connect is not waited for. */
export const QUICK = { options: { ServerAliveInterval: "1", ServerAliveCountMax: "1" }, connectTimeout: 5 };

export interface SshBox {
	readonly sshd: Sshd;
	readonly home: string;
	/** An empty directory, which is at the same path there. */
	readonly dir: string;
	/** Ends the task when the test is over. */
	open(): Promise<Runtime>;
	/** The process of the connection that all streams go through, if there is one just now. */
	master(): number | undefined;
	/** kill -9 of it. If there is none just now, nobody is killed: false. */
	killMaster(): boolean;
}

export interface SshBoxOptions extends SshdOptions {
	/** Of the entry in the configuration. */
	readonly entry?: Record<string, unknown>;
	/** Before anything connects. */
	readonly prepare?: (sshd: Sshd) => Promise<Record<string, unknown> | undefined> | Record<string, unknown> | undefined;
}

export async function sshBox({ entry = {}, prepare, ...options }: SshBoxOptions = {}): Promise<SshBox> {
	const sshd = await startSshd(options);
	const more = await prepare?.(sshd);
	const [home, dir, config] = [tempDir("home"), tempDir("work"), tempDir("config")];
	fs.mkdirSync(path.join(config, "holdfast"), { mode: 0o700 });
	const places = { box: { type: "ssh", ...sshd.options, ...entry, ...more } };
	fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places }), { mode: 0o600 });
	const before = process.env.XDG_CONFIG_HOME;
	process.env.XDG_CONFIG_HOME = config;
	atEnd(() => {
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
	});
	const master = () => {
		const sockets = namesIn(path.join(home, "ssh")).map((name) => path.join(home, "ssh", name));
		for (const { pid } of new ProcessSnapshot().stats.values()) {
			const words = readProc(`/proc/${pid}/cmdline`) ?? "";
			if (/\[mux\]|\0-N\0/.test(words) && sockets.some((socket) => words.includes(socket))) return pid;
		}
		return undefined;
	};
	return {
		sshd,
		home,
		dir,
		open: () => openOnBox(home),
		master,
		killMaster: () => {
			const pid = master();
			return pid !== undefined && process.kill(pid, "SIGKILL");
		},
	};
}
