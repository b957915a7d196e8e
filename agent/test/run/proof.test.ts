import { spawn } from "node:child_process";
import { once } from "node:events";
import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import { isClean, leftIn, plantControls, prove } from "../../src/run/proof.js";
import { atEnd, tempDir } from "../support/dirs.js";

const NOTHING = { kept: [], sandboxes: [], processes: [], mounts: [] };

it("the proof finds what was planted for it on each place, a process that no task has, and what a task has left", async () => {
	const folder = tempDir("proof");
	const runtime = await testRuntime({ warm: 0 });
	atEnd(() => runtime.close());
	const controls = await plantControls(runtime, ["local", "local+sandbox"], "run/control");
	expect(controls).toEqual([
		{ place: "local", found: true },
		{ place: "local+sandbox", found: true },
	]);
	const clean = await prove({ ...(await leftIn(runtime)), controls }, [folder]);
	expect(clean).toEqual({ ...NOTHING, control: true, controls });
	expect(isClean(clean)).toBe(true);

	const kept = await runtime.task("leaks", { place: "local+sandbox" }).spawn({ command: "sleep 3600" });
	const left = await leftIn(runtime);
	expect(left.kept).toContainEqual(expect.stringContaining(kept.id));
	expect(left.sandboxes).toEqual([expect.stringMatching(/ leaks$/)]);
	expect(isClean({ ...NOTHING, ...left, control: true, controls })).toBe(false);
	await runtime.endTask("leaks");

	const stray = spawn("sleep", ["3600"], { cwd: folder, stdio: "ignore" });
	atEnd(() => stray.kill("SIGKILL"));
	await once(stray, "spawn");
	const proof = await prove({ ...(await leftIn(runtime)), controls }, [folder], 0);
	expect(proof.processes).toEqual([expect.stringContaining(`${stray.pid} sleep 3600`)]);
	expect(isClean(proof)).toBe(false);
	stray.kill("SIGKILL");
	await once(stray, "exit");
});

it("a look that does not find what was planted proves nothing", async () => {
	const runtime = await testRuntime({ warm: 0 });
	atEnd(() => runtime.close());
	const controls = await plantControls(runtime, ["ssh://nobody@127.0.0.1:1"], "run/control");
	expect(controls).toEqual([{ place: "ssh://nobody@127.0.0.1:1", found: false, why: expect.stringMatching(/./) }]);
	expect(isClean(await prove({ kept: [], sandboxes: [], controls }, [tempDir("proof")]))).toBe(false);
});
