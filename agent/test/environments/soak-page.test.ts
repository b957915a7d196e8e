import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../support/dirs.js";
import { MAIN, newWorld } from "../support/seat.js";

const MINUTES = 5;

it("the commands of environments.md, as they are on the page, evaluate a scripted model on the three tasks within five minutes", { timeout: 600_000 }, () => {
	const page = fs.readFileSync("agent/docs/environments.md", "utf8");
	const [, part = ""] = /^## In five minutes$([\s\S]*?)^## /m.exec(page) ?? [];
	const commands = part.split("\n").filter((line) => line.startsWith("    "));
	expect(commands.length).toBeGreaterThan(8);
	const world = newWorld();
	const bin = tempDir("bin");
	fs.writeFileSync(path.join(bin, "holdfast-agent"), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o700 });
	fs.symlinkSync(path.resolve("agent"), path.join(world.work, "agent"));
	const began = Date.now();
	const { status, stdout, stderr } = spawnSync("bash", ["-e"], {
		...{ cwd: world.work, encoding: "utf8", input: commands.join("\n") },
		env: { ...world.env, PATH: `${bin}:${world.env.PATH}`, TEST_ROOT: process.env.TEST_ROOT ?? "" },
	});
	expect(status, stdout + stderr).toBe(0);
	expect(stdout.match(/^solved \d+\.\d %/gm)).toEqual(["solved 100.0 %", "solved 0.0 %", "solved 100.0 %", "solved 100.0 %"]); // oracle, nop, the script, and it again by `show`
	expect(stdout.match(/nothing is left/g)).toHaveLength(3);
	expect((Date.now() - began) / 60_000).toBeLessThan(MINUTES); // what the page promises
});
