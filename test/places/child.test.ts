/** The stream over a program of this machine, which apptainer, kubectl, srun and ssh are reached through. */
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { childStream, type Program, plain, programEnvironment, runProgram, startChild } from "../../src/places/child.js";
import { gone } from "../contract/pids.js";
import { tempDir, testRoot, until } from "../support/home.js";

const sh = (env: Record<string, string> = {}): Program => ({
	name: "sh",
	missing: "install one",
	env: { PATH: process.env.PATH ?? "", TEST_ROOT: testRoot(), ...env },
});
const why = ({ code, signal }: { code: number | null; signal: string | null }, said: string) => `${signal ?? code}: ${plain(said)}`;

it("a program that is not there is an error that says how to get it", async () => {
	await expect(startChild({ ...sh(), name: "no-such-program" }, [])).rejects.toMatchObject({
		code: "UNSUPPORTED",
		message: "there is no no-such-program on this machine (no `no-such-program` in PATH); install one",
	});
});

it("carries bytes both ways, half-closed, and says how it ended with the last of stderr", async () => {
	const stream = childStream(await startChild(sh(), ["-c", "cat; echo so >&2; exit 37"]), { why });
	const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256));
	stream.input.end(bytes);
	const parts: Buffer[] = [];
	for await (const part of stream.output) parts.push(part as Buffer);
	expect(Buffer.concat(parts).equals(bytes)).toBe(true);
	expect(await stream.ended).toBe("37: so");
});

it("a stream that is closed from this side ends a program that ignores TERM, and does not ask why", async () => {
	const stream = childStream(await startChild(sh(), ["-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done"]), { why });
	const [told] = await once(stream.output, "data");
	stream.close();
	expect(await stream.ended).toBe("it was closed from this side");
	await until("it is gone", () => gone(Number(String(told))));
});

it("a run that takes too long, or is given up, is ended with all that it has started", async () => {
	const dir = tempDir();
	const run = (name: string, options: { ms: number; signal?: AbortSignal }) => runProgram(sh(), ["-c", `sleep 60 & echo $! >${dir}/${name}; wait`], options);
	await expect(run("late", { ms: 300 })).rejects.toMatchObject({ code: "UNREACHABLE" });
	const stop = new AbortController();
	const given = run("given", { ms: 60_000, signal: stop.signal });
	await until("it runs", () => fs.existsSync(path.join(dir, "given")) && fs.readFileSync(path.join(dir, "given"), "utf8") !== "");
	stop.abort();
	await expect(given).rejects.toMatchObject({ code: "ABORTED" });
	for (const name of ["late", "given"]) await until("its child is gone", () => gone(Number(fs.readFileSync(path.join(dir, name), "utf8"))));
});

it("a run has its output, its code and each line of its stderr as it comes", async () => {
	const lines: string[] = [];
	const ran = await runProgram(sh(), ["-c", "cat; echo one >&2; printf '\\033[1mtwo\\033[0m\\n' >&2; exit 3"], {
		input: "in",
		ms: 60_000,
		onLine: (line) => lines.push(line),
	});
	expect({ ...ran, said: ran.said.length > 0, lines }).toEqual({ code: 3, signal: null, output: "in", said: true, lines: ["one", "two"] });
});

it("what is started has no secret in its environment", () => {
	const own = {
		PATH: "/bin",
		MODAL_TOKEN_ID: "ak-1",
		MODAL_TOKEN_SECRET: "as-1",
		MODAL_OAUTH_CLIENT: "c",
		MORPH_API_KEY: "morph_x",
		SLURM_JWT: "j",
		APPTAINER_DOCKER_PASSWORD: "p",
		KUBE_CONFIG_DATA: "x",
	};
	expect(programEnvironment({ EXTRA: "1" }, own)).toEqual({ PATH: "/bin", EXTRA: "1" });
});
