/** A program that is killed while it kills: it has stopped the tree, and cannot continue it any more. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readStat } from "../../src/base/proc.js";
import { here } from "../../src/base/who.js";
import { run } from "../fixtures/programs.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";

test.each(["background", "shell"])("the next program that looks finishes a kill that was cut short (%s)", async (where) => {
	const home = tempDir("home");
	expect(await run("dying-killer.mjs", home, "sleep 620 & echo $!; sleep 621; echo LATE", where === "shell" ? where : "").ended).toBe("SIGKILL");

	const runtime = await testRuntime({ home });
	const [process] = runtime.list({ task: null });
	if (!process) throw new Error("the command is not in the list");
	const child = Number(textOf(process));
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "killed" });
	await until("its child has gone", () => readStat(child) === undefined);
	expect(textOf(process)).toBe(`${child}\n`);
});

test("a killer that died after its kill was done is looked after once, and its mark is gone", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "sleep 622" });
	expect(await process.kill()).toMatchObject({ status: "killed" });
	const mark = path.join(process.dir, "killed");
	expect(fs.readFileSync(mark, "utf8")).toBe("");

	fs.writeFileSync(mark, `${here()}.999999.1`);
	expect(process.status()).toMatchObject({ status: "killed", exitCode: 143 });
	await until("the mark is empty", () => fs.statSync(mark).size === 0);
	expect(process.status()).toMatchObject({ status: "killed", exitCode: 143 });
});
