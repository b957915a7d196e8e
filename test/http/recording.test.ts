/** A terminal's log as asciicast v2: the same bytes, at their times, with the sizes between. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readState } from "../../src/keeper/layout.js";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import { overApi } from "../support/http.js";

test("what is exported is the log, with times that grow and each size where it was set", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const command = "stty -echo; printf 'zwölf €\\n'; read -r; printf '\\342'; sleep 0.2; printf '\\202\\254 \\377!\\n'; stty size; exit 0";
	const process = await runtime.spawn({ command, terminal: { cols: 80, rows: 24 }, name: "a name" });
	await process.wait({ until: { pattern: "€\r\n" }, timeout: 100_000 });
	await process.resize(90, 20);
	await process.write("\r");
	await process.wait({ timeout: 100_000 });
	await until("the log is closed", () => readState(process.dir).kind === "closed");
	const file = path.join(tempDir(), "demo.cast");
	const exported = await cli(runtime.home.root, ["record", "export", process.id, "--output", file]);
	expect(exported).toMatchObject({ code: 0, stdout: "" });
	const text = fs.readFileSync(file, "utf8");
	const response = await api.request("GET", `/api/processes/${process.id}/recording`);
	expect([await response.text(), response.headers.get("content-disposition")]).toEqual([text, `attachment; filename="${process.id}.cast"`]);
	expect((await cli(runtime.home.root, ["record", "export", process.id])).stdout).toBe(text);

	const [header, ...events] = parse(text);
	expect(header).toMatchObject({
		version: 2,
		width: 80,
		height: 24,
		title: "a name",
		command,
		timestamp: Math.floor(process.spec.startedAt / 1000),
		holdfast: { session_id: process.id, first_offset: 0 },
	});
	expect(outputOf(events)).toBe(textOf(process)); // bytes that are no text are U+FFFD in both
	expect(outputOf(events)).toBe("zwölf €\r\n€ \ufffd!\r\n20 90\r\n");
	const sizes = events.filter(([, kind]) => kind === "r");
	expect(sizes.map(([, , size]) => size)).toEqual(["90x20"]);
	const at = events.findIndex(([, kind]) => kind === "r");
	expect([outputOf(events.slice(0, at)), outputOf(events.slice(at))]).toEqual(["zwölf €\r\n", "€ \ufffd!\r\n20 90\r\n"]);
	const times = events.map(([time]) => time);
	expect(times).toEqual(times.toSorted((a, b) => a - b));
	expect((times.at(-1) as number) - (times[0] as number)).toBeGreaterThanOrEqual(0.19);

	expect(await cli(runtime.home.root, ["record", "export", process.id, "--output", file])).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("there is such a file already"),
	});
	const plain = await runtime.spawn({ command: "echo hello" });
	expect((await cli(runtime.home.root, ["record", "export", plain.id])).stderr).toContain("has no terminal");
	expect(await api.fails("GET", `/api/processes/${plain.id}/recording`)).toBe("NO_TERMINAL 400");
});

test("of a terminal that goes on, what was printed a moment ago has its time too", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "stty -echo; for n in 0 1 2 3 4; do echo $n; read -r; done", terminal: true });
	await process.wait({ until: { pattern: "0\r\n" }, timeout: 100_000 });
	for (const n of [1, 2, 3, 4]) {
		await process.write("\n");
		await process.wait({ until: { pattern: `${n}\r\n` }, timeout: 100_000 });
	}
	const { stdout } = await cli(runtime.home.root, ["record", "export", process.id]);
	const [, ...events] = parse(stdout);
	expect(outputOf(events)).toBe("0\r\n1\r\n2\r\n3\r\n4\r\n");
	const noted = fs.readFileSync(path.join(process.dir, "times"), "utf8").trim().split("\n");
	expect(noted.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0)).toBe(15);
	await process.kill();
});

test("of a log that has dropped its beginning the recording starts at the first byte there is, and says so", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "seq 60000", terminal: true, log: { limit: 128 * 1024 } });
	await process.wait({ timeout: 100_000 });
	await until("the log is closed", () => readState(process.dir).kind === "closed");
	const { stdout } = await cli(runtime.home.root, ["record", "export", process.id]);
	const [header, ...events] = parse(stdout);
	const { first } = process.log.bounds();
	expect(first).toBeGreaterThan(0);
	expect(header).toMatchObject({ holdfast: { first_offset: first, note: expect.stringContaining(`before byte ${first}`) } });
	expect(outputOf(events)).toBe(textOf(process));
});

type Event = [number, "o" | "r", string];

function parse(text: string): [object, ...Event[]] {
	return text
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line)) as [object, ...Event[]];
}

const outputOf = (events: readonly Event[]): string =>
	events
		.filter(([, kind]) => kind === "o")
		.map(([, , data]) => data)
		.join("");
