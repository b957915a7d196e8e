/** Commands longer than any argument may be, and homes with names that would trip a careless shell. */
import { expect, test } from "vitest";
import { tempDir, testRuntime, textOf } from "../support/home.js";

const FILLER = "0123456789abcdef".repeat(20 * 1024); // 320 KiB

for (const terminal of [false, true]) {
	const kind = terminal ? "on a terminal" : "without a terminal";

	test(`a command of 300 KiB runs as it is, ${kind}`, async () => {
		const runtime = await testRuntime();
		const command = `# ${FILLER}\nwc -c <<'E'\n${FILLER}\nE\necho done; exit 3`;
		const process = await runtime.spawn({ command, terminal });
		expect((await process.wait({ timeout: 10_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		expect(textOf(process).replaceAll("\r", "")).toBe(`${FILLER.length + 1}\ndone\n`);
		expect(process.command()).toBe(command);
	});

	test(`a home whose path has spaces, quotes and more in it works, ${kind}`, async () => {
		const runtime = await testRuntime({ home: tempDir('it\'s a "home" $(false) `x` \\n ; & * ü 家'), warm: 1 });
		const process = await runtime.spawn({ command: 'echo ready; read -r line; echo "<$line>"; exit 3', terminal, log: { limit: 64 * 1024 } });
		await process.wait({ until: { pattern: "ready" }, timeout: 10_000 });
		if (terminal) await process.resize(90, 20);
		await process.write("hello\n");
		expect((await process.wait({ timeout: 10_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		expect(textOf(process).replaceAll("\r", "")).toBe(terminal ? "ready\nhello\n<hello>\n" : "ready\n<hello>\n");
		const long = await runtime.spawn({ command: "seq 100000; sleep 1000", terminal, log: { limit: 64 * 1024 } });
		await long.wait({ until: { pattern: "^100000" }, timeout: 10_000 });
		expect(long.log.bounds().first).toBeGreaterThan(0);
		expect(await long.kill()).toMatchObject({ status: "killed", survivors: [] });
	});
}
