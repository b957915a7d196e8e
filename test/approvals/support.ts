import fs from "node:fs";
import path from "node:path";
import { vi } from "vitest";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";

/** What the floor refuses; and does no harm should it ever run. */
export const REFUSED = "holdfast approvals answer 0000 once";

export interface Setting {
	readonly home: string;
	/** Where the person's own files are. */
	readonly config: string;
	readonly dir: string;
	/** A command that a person is asked about, and that leaves a line in `ran` each time it runs. */
	readonly risky: string;
	readonly runtime: Runtime;
	/** Another program on the same home. */
	another(task?: string): Promise<Runtime>;
	runs(): number;
	write(name: "config.json" | "policy.json", content: unknown): void;
}

/** A home and a person's configuration of its own. */
export async function setting(approvals?: Record<string, unknown>): Promise<Setting> {
	const base = tempDir("approvals");
	const config = path.join(base, "config", "holdfast");
	fs.mkdirSync(config, { recursive: true });
	vi.stubEnv("XDG_CONFIG_HOME", path.dirname(config));
	atEnd(() => vi.unstubAllEnvs());
	const dir = tempDir("work");
	const home = path.join(base, "home");
	const write: Setting["write"] = (name, content) => fs.writeFileSync(path.join(config, name), JSON.stringify(content));
	if (approvals) write("config.json", { approvals });
	const ran = path.join(base, "ran");
	const runtime = await testRuntime({ home });
	await runtime.terminal({ command: `cd ${dir}` });
	return {
		home,
		config,
		dir,
		risky: `git push --force 2>&1; echo ran >> ${ran}`,
		runtime,
		another: (task) => testRuntime({ home, ...(task === undefined ? {} : { task }) }),
		runs: () => (fs.existsSync(ran) ? fs.readFileSync(ran, "utf8").split("\n").length - 1 : 0),
		write,
	};
}

/** Waits until so many questions wait, each with a caller behind it. */
export async function asked(runtime: Runtime, count = 1): Promise<string[]> {
	const ids = () =>
		runtime.approvals
			.list()
			.filter(({ waiting }) => waiting)
			.map(({ id }) => id);
	await until(`${count} asked`, () => ids().length === count);
	return ids();
}
