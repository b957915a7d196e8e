/** A log that is held for a shell whose runtime is on another machine. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isAlive } from "../../src/base/proc.js";
import { BLANK_RECORD, hasStarted, readParts } from "../../src/keeper/layout.js";
import { findTools, keeperFile } from "../../src/keeper/tools.js";
import { tempDir, until } from "../support/home.js";

test("a held log is released when its directory is removed before the release was written", async () => {
	const above = tempDir();
	const dir = path.join(above, "proc_000000000000");
	fs.mkdirSync(dir);
	for (const name of ["state", "exit", "limit"]) fs.writeFileSync(path.join(dir, name), BLANK_RECORD);
	execFileSync(
		"mkfifo",
		["in", "pipe", "ctl", "take"].map((name) => path.join(dir, name)),
	);
	const { sh, dd, rm, stty } = findTools();
	// It looks every minute: here a minute is short.
	const minute = path.join(above, "minute");
	fs.writeFileSync(minute, "#!/bin/sh\nexec sleep 0.1\n", { mode: 0o755 });
	const argv = [keeperFile("keeper.sh"), "keep", dir, path.join(above, "bell"), "", "", "", dd, rm, minute, stty, "", ""];
	const keeper = spawn(sh, argv, { stdio: ["pipe", "ignore", "ignore"], detached: true });
	keeper.stdin?.end("keep 0 0\n");
	await until("it is held", () => hasStarted(dir));
	const { collector } = readParts(dir);
	if (!collector) throw new Error("the collector has not introduced itself");
	await until("its keeper has left it to itself", () => keeper.exitCode === 0);
	expect(isAlive(collector)).toBe(true);
	fs.rmSync(dir, { recursive: true });
	await until("the collector has gone", () => !isAlive(collector));
});
