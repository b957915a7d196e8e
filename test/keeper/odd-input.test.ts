/** Commands longer than any argument may be, and homes with names that would trip a careless shell. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readState } from "../../src/keeper/layout.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";

const FILLER = "0123456789abcdef".repeat(20 * 1024); // 320 KiB

for (const terminal of [false, true]) {
	const kind = terminal ? "on a terminal" : "without a terminal";

	test(`a command of 300 KiB runs as it is, ${kind}`, async () => {
		const runtime = await testRuntime();
		const command = `# ${FILLER}\nwc -c <<'E'\n${FILLER}\nE\necho done; exit 3`;
		const process = await runtime.spawn({ command, terminal });
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		expect(textOf(process).replaceAll("\r", "")).toBe(`${FILLER.length + 1}\ndone\n`);
		expect(process.command()).toBe(command);
	});

	test(`a home whose path has spaces, quotes and more in it works, ${kind}`, async () => {
		const runtime = await testRuntime({ home: tempDir('it\'s a "home" $(false) `x` \\n ; & * ü 家'), warm: 1 });
		const process = await runtime.spawn({ command: 'echo ready; read -r line; echo "<$line>"; exit 3', terminal, log: { limit: 64 * 1024 } });
		await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
		if (terminal) await process.resize(90, 20);
		await process.write("hello\n");
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		expect(textOf(process).replaceAll("\r", "")).toBe(terminal ? "ready\nhello\n<hello>\n" : "ready\n<hello>\n");
		const long = await runtime.spawn({ command: "seq 100000; sleep 1000", terminal, log: { limit: 64 * 1024 } });
		await long.wait({ until: { pattern: "^100000" }, timeout: 100_000 });
		expect(long.log.bounds().first).toBeGreaterThan(0);
		expect(await long.kill()).toMatchObject({ status: "killed", survivors: [] });
	});
}

test("no time that is told ends the collector, whatever it looks like", async () => {
	const process = await (await testRuntime()).spawn({ command: 'while read -r line; do echo "<$line>"; done', terminal: true });
	const junk = ["0.123456 08", "0.123456", "0.5x 1", "0.1.2 3", "0.", "7. ", "7 08", "08.5 1", "3.25 1*", "* *", "size", "0.5 -1"];
	fs.appendFileSync(path.join(process.dir, "ctl"), junk.map((line) => `\n${line}\n`).join(""));
	for (let i = 0; i < 200; i++) fs.appendFileSync(path.join(process.dir, "ctl"), "\n0.123456 x[*]\n"); // more than are kept before they are counted
	await process.write("x\n");
	await process.wait({ until: { pattern: "<x>" }, timeout: 100_000 });
	await process.resize(90, 20);
	await process.write("\x04");
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
	await until("the log is closed", () => readState(process.dir).kind === "closed");
	expect(fs.readFileSync(path.join(process.dir, "times"), "utf8")).toContain(" 90 20\n");
});
