/** Mounts of the machine that go away while a sandbox is made, as with every container that ends. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findSandboxTools, type SandboxTools } from "../../src/places/probe.js";
import { cli } from "../support/cli.js";
import { tempDir } from "../support/home.js";
import { testHome } from "../support/mcp.js";
import { noSandbox } from "../support/sandbox.js";

const WORDS = 'bwrap: cannot bind mount /oldroot/ on /newroot/: Unable to apply mount flags: remount "/newroot/mnt/gone": Invalid argument';
const why = noSandbox ?? (spawnSync("unshare", ["--mount", "true"]).status === 0 ? undefined : "needs mount namespaces");

/** What runs behind this has a bubblewrap that meets such a mount the first times, and is the real one then. */
function meeting(times: number): { prefix: string[]; count: () => number } {
	const dir = tempDir("bwrap");
	const { bwrap } = findSandboxTools() as SandboxTools;
	const [file, real, tries] = ["bwrap", "real", "tries"].map((name) => path.join(dir, name)) as [string, string, string];
	fs.copyFileSync(bwrap, real);
	fs.writeFileSync(tries, "");
	fs.writeFileSync(file, `#!/bin/sh\necho x >>${tries}\n[ $(wc -l <${tries}) -gt ${times} ] || { echo '${WORDS}' >&2; exit 1; }\nexec ${real} "$@"\n`, {
		mode: 0o755,
	});
	const over = `mount --bind ${file} ${bwrap} && exec "$@"`;
	return { prefix: ["unshare", "--mount", "sh", "-c", over, "sh"], count: () => fs.readFileSync(tries, "utf8").length / 2 };
}

describe.skipIf(why)(`a mount that goes away${why ? ` (${why})` : ""}`, () => {
	test("is no reason to have no sandbox: it is made again, and the command runs once", async () => {
		const [home, cwd] = [testHome(), tempDir("work")];
		const { prefix, count } = meeting(2);
		const ran = await cli(home, ["run", "--place", "local+sandbox", "--", "echo x >>ran; cat ran"], { cwd, prefix });
		expect({ ...ran, count: count() }).toEqual({ code: 0, stdout: "x\n", stderr: "", count: 3 });
		expect((await cli(home, ["doctor"], { prefix: meeting(2).prefix })).stdout).toMatch(/ok\s+sandbox\s+local\+sandbox can be used/);
	});

	test("again and again is said, and nothing runs", async () => {
		const [home, cwd] = [testHome(), tempDir("work")];
		const { prefix, count } = meeting(1_000);
		const ran = await cli(home, ["run", "--place", "local+sandbox", "--", "touch ran"], { cwd, prefix });
		expect(ran).toMatchObject({ code: 125, stdout: "", stderr: expect.stringContaining('remount "/newroot/mnt/gone"') });
		expect([count(), fs.existsSync(path.join(cwd, "ran"))]).toEqual([5, false]);
	});
});
