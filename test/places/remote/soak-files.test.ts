/** Files on their way when something breaks: they arrive whole, or not at all, and nothing is left lying about. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../fixtures/programs.js";
import { dockerBox } from "../../support/docker-box.js";
import { noEngine } from "../../support/dockerd.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import type { Runtime } from "../../support/internal.js";
import { sshBox, TASK } from "../../support/ssh-box.js";
import { noSshd } from "../../support/sshd.js";
import { largeFile, manyFiles, picture } from "../../support/trees.js";

const PATIENCE = { timeout: 3_600_000 };
const MEGABYTES = 200;
const sha = (file: string): string => createHash("sha256").update(fs.readFileSync(file)).digest("hex");
const temporary = (dir: string): string[] => fs.readdirSync(dir).filter((name) => name.startsWith(".holdfast-tmp."));

/** Where a runtime may take files of this machine from. */
function workIn(): string {
	const before = process.cwd();
	const here = tempDir("here");
	process.chdir(here);
	atEnd(() => process.chdir(before));
	return here;
}

/** Something is on its way, and not yet there. */
const underWay = (dir: string, file: string): boolean =>
	!fs.existsSync(file) && temporary(dir).some((name) => (fs.statSync(path.join(dir, name), { throwIfNoEntry: false })?.size ?? 0) > 2_000_000);

/** A large file is on its way to `there` in the directory of the box. */
async function uploading({ dir, open }: { dir: string; open: () => Promise<Runtime> }) {
	const here = workIn();
	const runtime = await open();
	expect(await runtime.terminal({ command: "true" })).toMatchObject({ exit_code: 0 });
	const sha256 = largeFile("large", MEGABYTES);
	const up = runtime.upload({ source: "large", target: `${dir}/there` });
	await until("it is on its way", () => underWay(dir, `${dir}/there`));
	return { here, runtime, sha256, up };
}

describe.skipIf(noSshd)(`files over SSH${noSshd ? ` (${noSshd})` : ""}`, () => {
	test("the connection is killed during an upload, a download and a folder: all arrive, and nothing is left", PATIENCE, async () => {
		const box = await sshBox();
		const { dir, killMaster } = box;
		const { here, runtime, sha256, up } = await uploading(box);
		expect(killMaster()).toBe(true);
		expect(await up).toMatchObject({ status: "ok", error: null, sha256 });
		expect(sha(`${dir}/there`)).toBe(sha256);
		const down = runtime.download({ source: `${dir}/there`, target: "back" });
		await until("it is on its way back", () => underWay(here, `${here}/back`));
		expect(killMaster()).toBe(true);
		expect(await down).toMatchObject({ status: "ok", error: null, sha256 });
		expect(sha("back")).toBe(sha256);
		const tree = manyFiles(3000, here);
		const folder = runtime.upload({ source: "many", target: `${dir}/many` });
		await until("it is being put together", () => temporary(dir).length > 0);
		expect(killMaster()).toBe(true);
		expect(await folder).toMatchObject({ status: "ok", error: null, files: 3000 });
		expect(picture(`${dir}/many`)).toEqual(picture(tree));
		expect([...fs.readdirSync(dir), ...fs.readdirSync(here)].sort()).toEqual(["back", "large", "many", "many", "there"]);
	});

	test("a machine that cannot be reached any more: that is said, and its leftovers go when it is reached again", PATIENCE, async () => {
		const box = await sshBox();
		const { sshd, dir } = box;
		const { runtime, up } = await uploading(box);
		await sshd.stop();
		expect(await up).toMatchObject({ status: "error", error: expect.stringMatching(/cannot be reached/) });
		expect(fs.existsSync(`${dir}/there`)).toBe(false);
		await sshd.start();
		expect(await runtime.readFile({ path: `${dir}/there` })).toMatchObject({ status: "not_found" });
		await until("nothing is left", () => fs.readdirSync(dir).length === 0);
	});

	test.each(["upload", "download"] as const)(
		"kill -9 of the runtime during an %s: nothing under the final name, and the next copy removes the rest",
		PATIENCE,
		async (tool) => {
			const { home, dir, open } = await sshBox();
			const here = workIn();
			const target = tool === "upload" ? dir : here;
			const sha256 = largeFile(tool === "upload" ? "large" : `${dir}/large`, MEGABYTES);
			const [source, to] = tool === "upload" ? ["large", `${dir}/there`] : [`${dir}/large`, "there"];
			const program = run("transfer.mjs", home, "box", TASK, tool, source as string, to as string);
			expect(await program.line()).toBe("ready");
			await until("it is on its way", () => underWay(target, path.join(target, "there")));
			await program.kill();
			expect(fs.existsSync(path.join(target, "there"))).toBe(false);
			expect(temporary(target)).toHaveLength(1);
			const runtime = await open();
			expect(await runtime[tool]({ source, target: to } as { source: string; target: string })).toMatchObject({ status: "ok", sha256 });
			expect(temporary(target)).toEqual([]);
			expect(sha(path.join(target, "there"))).toBe(sha256);
		},
	);
});

describe.skipIf(noEngine())(`files in a container${noEngine() ? ` (${noEngine()})` : ""}`, () => {
	test("it is removed during an upload and a download: whole or not at all, and that is said", PATIENCE, async () => {
		const box = await dockerBox();
		const { dir, container } = box;
		const { here, runtime, sha256, up } = await uploading(box);
		await container.remove({ force: true, v: true });
		const result = await up;
		// The directory is a volume, and another container may have taken over.
		if (result.status === "ok") expect(sha(`${dir}/there`)).toBe(sha256);
		else expect([result.error, fs.existsSync(`${dir}/there`)]).toEqual([expect.stringMatching(/\w/), false]);
		expect(await runtime.upload({ source: "large", target: `${dir}/again` })).toMatchObject({ status: "ok", sha256 });
		expect(temporary(dir)).toEqual([]);
		const down = runtime.download({ source: `${dir}/again`, target: "back" });
		await until("it is on its way back", () => underWay(here, `${here}/back`));
		await container.remove({ force: true, v: true });
		const came = await down;
		if (came.status === "ok") expect(sha("back")).toBe(sha256);
		else expect([came.error, fs.existsSync("back")]).toEqual([expect.stringMatching(/\w/), false]);
		expect(temporary(here)).toEqual([]);
	});
});
