/** A task's shell for tests: commands in, what a caller would see out. */
import { randomBytes } from "node:crypto";
import { type CommandRequest, type RunResult, Shells } from "../../src/shell/index.js";
import { atEnd, tempDir, testRuntime } from "../support/home.js";
import type { Runtime } from "../support/internal.js";

export interface Ran extends Pick<RunResult, "end" | "cwd" | "notes" | "tracked" | "signal"> {
	readonly code: number | null;
	readonly bytes: Buffer;
	readonly out: string;
	readonly id: string;
}

export class TestShell {
	constructor(
		readonly shells: Shells,
		readonly runtime: Runtime,
		readonly task: string = randomBytes(4).toString("hex"),
	) {}

	run = async (command: string, options: Partial<CommandRequest> = {}): Promise<Ran> => {
		const result = await this.shells.run({ task: this.task, command, timeoutMs: 30_000, onTimeout: "kill", ...options });
		const { first, end } = result.process.log.bounds();
		const bytes = result.process.read(first, end - first + 1).bytes;
		result.release();
		return { ...result, code: result.exitCode, bytes, out: bytes.toString("utf8") + result.after, id: result.process.id };
	};

	/** Another task on the same runtime. */
	another = (task?: string): TestShell => new TestShell(this.shells, this.runtime, task);

	/** The pid of the bash behind it. */
	pid = async (): Promise<number> => Number((await this.run("echo $$")).out);
}

/** On a home of its own, without anybody's profile. */
export async function testShell(runtime?: Runtime): Promise<TestShell> {
	const home = process.env.HOME;
	process.env.HOME = tempDir("nobody");
	atEnd(() => {
		process.env.HOME = home;
	});
	const used = runtime ?? (await testRuntime());
	const shells = new Shells(used);
	atEnd(() => shells.close());
	return new TestShell(shells, used);
}
