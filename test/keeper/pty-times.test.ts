/** The file `times` says when how many bytes of a terminal's output came, for a recording. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readState } from "../../src/keeper/layout.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { testRuntime, until } from "../support/home.js";
import type { Process } from "../support/internal.js";

describe.each(PTY_TOOLS)("the times of a terminal by $name", (pty) => {
	test("add up to the log, and new sizes stand between them", async (context) => {
		const process = await (await runtimeWith(pty, context)).spawn({ command: "stty -echo; for n in 1 2 3; do echo $n; read -r; done; exit 3", terminal: true });
		await process.wait({ until: { pattern: "1\r\n" } });
		await process.resize(90, 20);
		await until("the size is noted", () => timesOf(process).sizes.length === 1);
		await process.write("\n");
		await process.wait({ until: { pattern: "2\r\n" } });
		await process.resize(80, 24);
		await until("the size is noted", () => timesOf(process).sizes.length === 2);
		await process.write("\n\n");
		await process.wait({ timeout: 100_000 });
		await until("the log is closed", () => readState(process.dir).kind === "closed");
		const { bytes, clocks, sizes } = timesOf(process);
		// Perl writes both. Of the others the keeper hears how much it was a moment after it is in the log: a new size may come in between.
		const at = (...offsets: number[]) => (pty.name === "perl" ? offsets.at(-1) : `(${offsets.join("|")})`);
		expect(sizes).toEqual([expect.stringMatching(new RegExp(`^size ${at(0, 3)} 90 20$`)), expect.stringMatching(new RegExp(`^size ${at(3, 6)} 80 24$`))]);
		expect(bytes).toBe(process.log.bounds().end);
		expect(clocks.length).toBeGreaterThanOrEqual(1);
		expect(clocks).toEqual(clocks.toSorted((a, b) => a - b));
	});

	test("add up to the log also when it is printed fast and in many runs of dd", async (context) => {
		const process = await (await runtimeWith(pty, context)).spawn({ command: "seq 300000", terminal: true, log: { limit: 256 * 1024 } });
		await process.wait({ timeout: 100_000 });
		await until("the log is closed", () => readState(process.dir).kind === "closed");
		expect(process.log.bounds().end).toBe(2_288_895);
		expect(timesOf(process).bytes).toBe(process.log.bounds().end);
	});
});

interface Times {
	readonly clocks: number[];
	readonly bytes: number;
	readonly sizes: string[];
}

/** Lines are `MICROSECONDS BYTES` or `size OFFSET COLS ROWS`. */
function timesOf(process: Process): Times {
	const file = path.join(process.dir, "times");
	const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
	const sizes = lines.filter((line) => line.startsWith("size "));
	const pieces = lines.filter((line) => !sizes.includes(line)).map((line) => line.split(" ").map(Number) as [number, number]);
	return { sizes, clocks: pieces.map(([clock]) => clock), bytes: pieces.reduce((sum, [, bytes]) => sum + bytes, 0) };
}

test("what is typed after a resize finds the program with the new size", async () => {
	const process = await (await testRuntime()).spawn({ command: "stty -echo; echo ready; while read -r; do stty size; done", terminal: { cols: 80, rows: 24 } });
	await process.wait({ until: { pattern: "ready\\r\\n" }, timeout: 100_000 });
	for (let cols = 90; cols < 110; cols++) {
		await process.resize(cols, 30);
		const from = process.log.bounds().end;
		await process.write("\n");
		await process.wait({ until: { pattern: "\n" }, from, timeout: 100_000 });
	}
	expect(process.read(0).bytes.toString().trim().split("\r\n")).toEqual(["ready", ...Array.from({ length: 20 }, (_, i) => `30 ${90 + i}`)]);
});
