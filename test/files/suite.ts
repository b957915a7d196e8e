/** The tools for files at one place, through the library: the same cases everywhere. The directory of a case is at the same path there as here. */
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { copy, linkEnd, localFiles, remoteFiles } from "../../src/places/files/index.js";
import type { RemoteMachine } from "../../src/places/remote/machine.js";
import type { ReadFileResult, TransferResult } from "../../src/tools/files/result.js";
import { type Connected, connect } from "../contract/door.js";
import type { ContractPlace } from "../contract/places.js";
import { startPlace } from "../contract/suite.js";
import { cli } from "../support/cli.js";
import { exchanging, noExchange } from "../support/exchange.js";
import { atEnd, forFile, tempDir, testRoot } from "../support/home.js";
import type { Runtime } from "../support/internal.js";
import { hostileTree, largeFile, manyFiles, picture } from "../support/trees.js";

type Answer = Partial<ReadFileResult & TransferResult & { matches: number }>;
type Tool = "readFile" | "writeFile" | "patch" | "searchFiles" | "upload" | "download" | "terminal";

interface Client {
	/** Empty, and the shell's directory. */
	readonly dir: string;
	/** Where this machine's files may be taken from. */
	readonly here: string;
	readonly home: string;
	readonly task: string;
	call(tool: Tool, args: Record<string, unknown>): Promise<Answer>;
	/** It has to work. */
	ok(tool: Tool, args: Record<string, unknown>): Promise<Answer>;
}

/** A file system that is full after so much, and one that cannot be written to. */
interface Tight {
	readonly full: string;
	readonly fixed: string;
}

export interface FilesSuite {
	/** No bash: no shell that could be anywhere. */
	readonly poor?: boolean;
	readonly megabytes?: number;
	/** How many small ones. */
	readonly many?: number;
	/** How often a directory of this machine is copied to and from while it changes places with a link. */
	readonly race?: number;
}

export function filesSuite(place: ContractPlace, { poor = false, megabytes = 100, many = 2000, race = 10 }: FilesSuite = {}): void {
	describe.skipIf(place.missing)(`files at ${place.name}${place.missing ? ` (${place.missing})` : ""}`, () => {
		let tight: Tight;
		let connected: Connected;
		// Before a server is started that would not see what is mounted later. A container is started with the first call of its task.
		beforeAll(() =>
			forFile(async () => {
				if (place.dir) return;
				tight = mountTight(fs.mkdtempSync(path.join(path.dirname(testRoot()), "tight-")), place.owner);
				atEnd(() => unmountTight(tight, path.dirname(tight.full)));
			}),
		);
		startPlace(place);
		beforeAll(async () => {
			connected = await connect(place.open, place);
		});

		const begin = async (): Promise<Client & Tight> => {
			const before = process.cwd();
			const { dir, home, task } = await connected.begin();
			const door = await connected.doors.forTask(task);
			// A library has them all. Names of this machine are in a directory of this case, also where the shell's is another.
			const own = (name: unknown) => `${path.resolve(name as string)}${/\/\.$/.test(name as string) ? "/." : ""}`;
			const call: Client["call"] = (tool, { source, target, ...args }) => {
				const ends = tool === "upload" ? { source: own(source), target } : tool === "download" ? { source, target: own(target) } : {};
				return door.call(tool as "terminal", { ...args, ...ends }) as Promise<Answer>;
			};
			const here = tempDir("here");
			process.chdir(here);
			atEnd(() => process.chdir(before));
			let mounted = tight;
			if (place.dir) {
				const above = place.dir();
				mounted = mountTight(above, place.owner);
				atEnd(() => unmountTight(mounted, above));
			}
			if (!poor) await call("terminal", { command: `cd ${dir}` });
			return {
				...mounted,
				dir,
				here,
				home,
				task,
				call,
				ok: async (tool, args) => {
					const result = await call(tool, args);
					expect({ status: result.status, error: result.error }).toEqual({ status: "ok", error: null });
					return result;
				},
			};
		};

		test("a folder goes there and back and is the same, whatever its names", async () => {
			const { dir, here, ok } = await begin();
			const tree = hostileTree(here);
			fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/bad`), Buffer.from([0xff])]), "x");
			execFileSync("mkfifo", [path.join(tree, "pipe")]);
			const up = await ok("upload", { source: "tree", target: `${dir}/there` });
			expect(up).toMatchObject({ kind: "directory", created: true, links: 3, path: `${dir}/there` });
			const hidden = place.name === "local" ? [] : ["... (it is hidden: a name with a dot)", "d.../... (it is hidden: a name with a dot)"];
			expect([...(up.skipped ?? [])].sort()).toEqual([...hidden, "bad\ufffd (its name is not UTF-8)", "pipe (a device, a pipe or a socket)"].sort());
			fs.rmSync(Buffer.concat([Buffer.from(`${tree}/bad`), Buffer.from([0xff])]));
			fs.rmSync(path.join(tree, "pipe"));
			if (place.name !== "local") for (const name of ["...", "d.../..."]) fs.rmSync(path.join(tree, name));
			expect(picture(`${dir}/there`)).toEqual(picture(tree));
			const down = await ok("download", { source: `${dir}/there`, target: "back" });
			if (place.name !== "local") fs.rmSync(path.join(tree, "broken link"));
			expect(picture("back")).toEqual(picture(tree));
			expect(down.skipped).toEqual(place.name === "local" ? undefined : ["broken link (a link that leads out of the folder, or may)"]);
			expect(down).toMatchObject({ files: up.files, directories: up.directories, links: place.name === "local" ? 3 : 2, bytes: up.bytes });
			expect([...fs.readdirSync(dir), ...fs.readdirSync(here)].sort()).toEqual(["back", "there", "tree"]);
			if (place.owner !== undefined) expect(fs.statSync(`${dir}/there/program`).uid).toBe(place.owner);
			for (const one of [tree, `${dir}/there`, "back"]) fs.chmodSync(path.join(one, "locked"), 0o755);
		});

		test("into a folder that is there: what is new is added, files are replaced, links are not followed", async () => {
			const { dir, here, call, ok } = await begin();
			await ok("writeFile", { path: `${dir}/into/sub/old`, content: "old\n" });
			await ok("writeFile", { path: `${dir}/into/sub/kept`, content: "kept\n" });
			for (const name of ["sub/deep", "new"]) fs.mkdirSync(path.join(here, "src", name), { recursive: true });
			fs.writeFileSync("src/sub/old", "new");
			fs.writeFileSync("src/sub/deep/x", "x");
			fs.writeFileSync("src/new/y", "y");
			fs.symlinkSync("y", "src/new/link");
			await ok("upload", { source: "src/.", target: `${dir}/into` });
			const seen = picture(`${dir}/into`);
			expect(Object.keys(seen).sort()).toEqual(["new", "new/link", "new/y", "sub", "sub/deep", "sub/deep/x", "sub/kept", "sub/old"]);
			expect(["sub/old", "sub/kept", "sub/deep/x", "new/y"].map((name) => fs.readFileSync(`${dir}/into/${name}`, "utf8"))).toEqual(["new", "kept\n", "x", "y"]);
			const outside = path.join(dir, "outside");
			fs.mkdirSync(outside);
			fs.rmSync(`${dir}/into/new`, { recursive: true });
			fs.symlinkSync(outside, `${dir}/into/new`);
			expect(await call("upload", { source: "src/.", target: `${dir}/into` })).toMatchObject({ status: "error", error: expect.stringMatching(/no directory/) });
			expect(fs.readdirSync(outside)).toEqual([]);
			expect(fs.readdirSync(`${dir}/into`).sort()).toEqual(["new", "sub"]);
			expect(await call("upload", { source: "src", target: `${dir}/into/sub/kept` })).toMatchObject({
				status: "error",
				error: expect.stringMatching(/no directory/),
			});
		});

		test.skipIf(place.name === "local")(
			"nothing of this machine is read or written but the directory it may be, whatever links there are",
			{ timeout: 600_000 },
			async () => {
				const { dir, here, call, ok } = await begin();
				const outside = tempDir("outside");
				fs.writeFileSync(path.join(outside, "secret"), "precious");
				await ok("writeFile", { path: `${dir}/evil`, content: "evil" });
				await ok("writeFile", { path: `${dir}/t/sub/.git/x`, content: "x" });
				fs.symlinkSync(path.join(outside, "planted"), `${dir}/t/l`);
				fs.symlinkSync(path.join(outside, "planted"), "dangling");
				fs.symlinkSync("dangling", "chain");
				fs.symlinkSync(outside, "folder");
				fs.mkdirSync("D");
				fs.mkdirSync(".hidden");
				fs.symlinkSync("D/new", "honest");
				const refused = { status: "error", error: expect.stringMatching(/cannot be (read|written) by this tool/) };
				for (const target of ["dangling", "chain", "folder/x", "folder", "..", "../x", "/proc/self/cwd/../x", ".hidden", ".envrc", "/etc/x", outside])
					expect([target, await call("download", { source: `${dir}/evil`, target })]).toEqual([target, expect.objectContaining(refused)]);
				for (const source of ["folder", "folder/secret", "..", "/etc/passwd", ".hidden", path.join(outside, "secret"), path.join(outside, "none")])
					expect([source, await call("upload", { source, target: `${dir}/got` })]).toEqual([source, expect.objectContaining(refused)]);
				expect(await ok("download", { source: `${dir}/t`, target: "t" })).toMatchObject({
					links: 0,
					skipped: [expect.stringMatching(/^l \(a link that leads out/)],
				});
				expect(await ok("download", { source: `${dir}/evil`, target: "t/l" })).toMatchObject({ path: path.join(here, "t/l") });
				expect(await ok("download", { source: `${dir}/evil`, target: "honest" })).toMatchObject({ path: path.join(here, "D/new") });
				fs.symlinkSync(path.join(outside, "planted"), "D/evil");
				expect(await call("download", { source: `${dir}/evil`, target: "D" })).toMatchObject({
					status: "error",
					error: expect.stringMatching(/symbolic link/),
				});
				fs.rmSync("D/evil");
				fs.writeFileSync("D/secret", "inside");
				const stop = noExchange ? undefined : await exchanging(path.resolve("D"), path.resolve("folder"));
				for (let round = 0; round < race; round++) {
					await call("download", { source: `${dir}/evil`, target: "D/secret" });
					await call("download", { source: `${dir}/t`, target: `D/t${round}` });
					await call("upload", { source: "D/secret", target: `${dir}/got` });
					if (fs.existsSync(`${dir}/got`)) expect(fs.readFileSync(`${dir}/got`, "utf8")).not.toBe("precious");
				}
				await stop?.();
				expect(fs.readdirSync(outside)).toEqual(["secret"]);
				expect(fs.readFileSync(path.join(outside, "secret"), "utf8")).toBe("precious");
			},
		);

		test(`${many} small files there and back are the same`, async () => {
			const { dir, here, ok } = await begin();
			const tree = manyFiles(many, here);
			expect(await ok("upload", { source: "many", target: `${dir}/` })).toMatchObject({ files: many, path: `${dir}/many` });
			expect(await ok("download", { source: `${dir}/many/.`, target: "back" })).toMatchObject({ files: many });
			expect(picture("back")).toEqual(picture(tree));
			expect(picture(`${dir}/many`)).toEqual(picture(tree));
		});

		test(`${megabytes} MB there and back have the same sha256`, async () => {
			const { dir, ok } = await begin();
			const sha256 = largeFile("large", megabytes);
			const bytes = megabytes * 1_000_000;
			expect(await ok("upload", { source: "large", target: `${dir}/there` })).toMatchObject({ bytes, sha256, created: true });
			expect(await ok("download", { source: `${dir}/there`, target: "back" })).toMatchObject({ bytes, sha256 });
			for (const file of [`${dir}/there`, "back"]) expect(execFileSync("sha256sum", [file], { encoding: "utf8" })).toContain(sha256);
			expect(fs.readdirSync(dir)).toEqual(["there"]);
		});

		test("paths start where the shell is; similar names; images and binaries; searching; a patch of several files", async () => {
			const { dir, call, ok } = await begin();
			const at = (name: string) => (poor ? `${dir}/${name}` : name);
			await ok("writeFile", { path: at("sub dir/configuration.json"), content: '{"a": 1}\nneedle\n' });
			expect(fs.readFileSync(`${dir}/sub dir/configuration.json`, "utf8")).toBe('{"a": 1}\nneedle\n');
			expect(await call("readFile", { path: at("sub dir/configuratoin.json") })).toMatchObject({
				status: "not_found",
				similar: [`${dir}/sub dir/configuration.json`],
			});
			expect(await call("download", { source: at("sub dir/configuratoin.json"), target: "x" })).toMatchObject({
				status: "not_found",
				similar: [`${dir}/sub dir/configuration.json`],
			});
			expect((await ok("readFile", { path: at("sub dir/configuration.json"), offset: 2 })).output).toBe("     2\tneedle");
			expect(await ok("searchFiles", { pattern: "needle", path: dir })).toMatchObject({ matches: 1, files: 1 });
			const png = Buffer.alloc(40);
			Buffer.from("\x89PNG\r\n\x1a\n", "latin1").copy(png);
			png.writeUInt32BE(640, 16);
			png.writeUInt32BE(480, 20);
			fs.writeFileSync(`${dir}/x.png`, png, { mode: 0o644 });
			expect(await ok("readFile", { path: at("x.png") })).toMatchObject({ kind: "image", type: "png", width: 640, height: 480, output: "" });
			fs.writeFileSync(`${dir}/x.bin`, Buffer.from([1, 0, 2]), { mode: 0o644 });
			expect(await ok("readFile", { path: at("x.bin") })).toMatchObject({ kind: "binary", size: 3, output: "" });
			expect((await ok("readFile", { path: dir })).output).toBe("sub dir/\nx.bin\nx.png");
			const diff = `--- ${dir}/sub dir/configuration.json\n+++ ${dir}/sub dir/configuration.json\n@@ -1,2 +1,2 @@\n {"a": 1}\n-needle\n+thread\n--- /dev/null\n+++ ${dir}/made/new\n@@ -0,0 +1 @@\n+new\n`;
			await ok("patch", { diff });
			expect([fs.readFileSync(`${dir}/sub dir/configuration.json`, "utf8"), fs.readFileSync(`${dir}/made/new`, "utf8")]).toEqual([
				'{"a": 1}\nthread\n',
				"new\n",
			]);
		});

		test("files without a size are read, and what is no file is neither read nor searched", async () => {
			const { dir, call, ok } = await begin();
			expect((await ok("readFile", { path: "/proc/version" })).output).toMatch(/^ {5}1\tLinux version /);
			execFileSync("mkfifo", ["-m", "644", `${dir}/pipe`]);
			fs.symlinkSync("pipe", `${dir}/link`);
			for (const path of [`${dir}/pipe`, `${dir}/link`, "/dev/null"]) {
				expect(await call("readFile", { path })).toMatchObject({ status: "error", error: expect.stringMatching(/is a device, a pipe or a socket/) });
				expect(await call("searchFiles", { pattern: "x", path })).toMatchObject({
					status: "error",
					error: expect.stringMatching(/is a device, a pipe or a socket/),
				});
			}
			expect(await ok("searchFiles", { pattern: "x", path: dir })).toMatchObject({ matches: 0 });
		});

		test("what is replaced keeps its permissions, line endings and name, and a link leads to the new content", async () => {
			const { dir, ok } = await begin();
			await ok("writeFile", { path: `${dir}/f`, content: "a\n" });
			fs.writeFileSync(`${dir}/f`, "a\r\nb\r\n");
			fs.chmodSync(`${dir}/f`, 0o751);
			fs.symlinkSync("f", `${dir}/link`);
			const before = fs.openSync(`${dir}/f`, "r");
			expect((await ok("writeFile", { path: `${dir}/link`, content: "c\nd\n" })).path).toBe(`${dir}/f`);
			expect(fs.readFileSync(`${dir}/f`, "utf8")).toBe("c\r\nd\r\n");
			await ok("patch", { path: `${dir}/link`, old_string: "c", new_string: "C" });
			expect(fs.readFileSync(`${dir}/f`, "utf8")).toBe("C\r\nd\r\n");
			fs.writeFileSync("new", randomBytes(1000), { mode: 0o600 });
			await ok("upload", { source: "new", target: `${dir}/link` });
			expect(fs.readFileSync(`${dir}/f`)).toEqual(fs.readFileSync("new"));
			expect(fs.lstatSync(`${dir}/link`).isSymbolicLink()).toBe(true);
			expect(fs.statSync(`${dir}/f`).mode & 0o7777).toBe(0o751);
			expect(fs.readFileSync(before, "utf8")).toBe("a\r\nb\r\n"); // whoever had it open has the old one, whole
			fs.closeSync(before);
			expect(fs.readdirSync(dir).sort()).toEqual(["f", "link"]);
			expect(await ok("upload", { source: "new", target: `${dir}/made/deep/` })).toMatchObject({ path: `${dir}/made/deep/new`, created: true });
			expect(fs.statSync(`${dir}/made/deep/new`).mode & 0o777).toBe(0o600);
		});

		test("a full disk, one that is read-only, a directory in the way, no permission: it is said, and all is as it was", async () => {
			const { dir, full, fixed, call, ok } = await begin();
			const left = () => fs.readdirSync(full, { recursive: true });
			const work = (where: string) => (poor ? undefined : call("terminal", { command: `cd ${where}` })); // the policy asks about files outside of it
			await work(path.dirname(full));
			await ok("writeFile", { path: `${full}/file`, content: "old\n" });
			fs.writeFileSync("large", randomBytes(6_000_000));
			fs.mkdirSync("folder");
			for (let at = 0; at < 20; at++) fs.writeFileSync(`folder/${at}`, randomBytes(300_000));
			fs.mkdirSync("many");
			for (let at = 0; at < 200; at++) fs.writeFileSync(`many/${at}`, randomBytes(30_000));
			for (const [tool, args] of [
				["writeFile", { path: `${full}/file`, content: "x".repeat(6_000_000) }],
				["upload", { source: "large", target: `${full}/file` }],
				["upload", { source: "folder", target: `${full}/` }],
				["upload", { source: "many", target: `${full}/` }],
			] as const)
				expect(await call(tool, args)).toMatchObject({ status: "error", error: expect.stringMatching(/disk is full/) });
			expect(left()).toEqual(["file"]);
			expect(fs.readFileSync(`${full}/file`, "utf8")).toBe("old\n");
			for (const [tool, args] of [
				["writeFile", { path: `${fixed}/file`, content: "x" }],
				["patch", { path: `${fixed}/file`, old_string: "old", new_string: "new" }],
				["upload", { source: "large", target: `${fixed}/file` }],
				["upload", { source: "folder", target: `${fixed}/` }],
			] as const)
				expect(await call(tool, args)).toMatchObject({ status: "error", error: expect.stringMatching(/read-only/) });
			expect((await ok("readFile", { path: `${fixed}/file` })).output).toBe("     1\told");
			await work(dir);
			await ok("writeFile", { path: `${dir}/sub/x`, content: "x" });
			expect(await call("writeFile", { path: `${dir}/sub`, content: "x" })).toMatchObject({ status: "error", error: expect.stringMatching(/is a directory/) });
			fs.mkdirSync(`${dir}/sub/large`);
			expect(await call("upload", { source: "large", target: `${dir}/sub` })).toMatchObject({
				status: "error",
				error: expect.stringMatching(/is a directory/),
			});
			expect(fs.readdirSync(`${dir}/sub`).sort()).toEqual(["large", "x"]);
			if (place.owner === undefined) return;
			fs.mkdirSync(`${dir}/others`, { mode: 0o755 });
			fs.writeFileSync(`${dir}/others/secret`, "x", { mode: 0o600 });
			for (const [tool, args] of [
				["readFile", { path: `${dir}/others/secret` }],
				["download", { source: `${dir}/others/secret`, target: "x" }],
				["download", { source: `${dir}/others`, target: "x" }],
				["writeFile", { path: `${dir}/others/new`, content: "x" }],
				["upload", { source: "large", target: `${dir}/others/` }],
				["upload", { source: "many", target: `${dir}/others/` }],
			] as const)
				expect(await call(tool, args)).toMatchObject({ status: "error", error: expect.stringMatching(/not allowed/) });
			expect(fs.readdirSync(`${dir}/others`)).toEqual(["secret"]);
			expect(fs.existsSync("x")).toBe(false);
		});

		test.skipIf(place.name === "local")("a transfer that comes out with other bytes is found out, and nothing of it appears", async () => {
			const { dir, home, task, ok } = await begin();
			await ok("writeFile", { path: `${dir}/file`, content: "old\n" }); // it is connected
			const { openRuntime } = await import("../support/internal.js");
			const runtime: Runtime = await openRuntime({ home, task, warm: 0, place: "box" });
			atEnd(() => runtime.close());
			const { reach } = runtime.machine(task) as RemoteMachine;
			const end = linkEnd({ use: (work, { signal }) => reach.use(work, { signal }) });
			const flip = (bytes: Uint8Array) => {
				const other = Buffer.from(bytes);
				if (other.length > 0) other[other.length >> 1] = (other[other.length >> 1] as number) ^ 1;
				return other;
			};
			const upset = remoteFiles({
				run: (script, options = {}) => end.run(script, options.input ? { ...options, input: flip(options.input) } : options),
				read: async (...args) => flip(await end.read(...args)),
				write: (file, offset, bytes) => end.write(file, offset, flip(bytes)),
			});
			fs.writeFileSync("large", randomBytes(3_000_000));
			manyFiles(50, process.cwd());
			for (const name of ["large", "many"])
				await expect(
					copy({ files: localFiles(), path: path.resolve(name) }, { files: upset, path: `${dir}/${name === "many" ? "many" : "file"}` }),
				).rejects.toThrow(/sha256|other bytes/);
			await expect(copy({ files: upset, path: `${dir}/file` }, { files: localFiles(), path: path.resolve("back") })).rejects.toThrow(/changes all the time/);
			expect(fs.readdirSync(dir)).toEqual(["file"]);
			expect(fs.readFileSync(`${dir}/file`, "utf8")).toBe("old\n");
			expect(fs.readdirSync(".").sort()).toEqual(["large", "many"]);
		});

		test("holdfast cp: there and back", async () => {
			const { dir, here, home, task, ok } = await begin();
			await ok("writeFile", { path: `${dir}/first`, content: "x" }); // it is connected
			const tree = manyFiles(30, here);
			const cp = (...args: string[]) => cli(home, ["cp", "--task", task, ...(place.name === "local" ? [] : ["--place", "box"]), ...args], { cwd: here });
			expect(await cp("many", `:${dir}/there`)).toMatchObject({ code: 0, stdout: expect.stringContaining("30 files") });
			expect(picture(`${dir}/there`)).toEqual(picture(tree));
			const back = await cp("--json", `:${dir}/there`, "back");
			expect(JSON.parse(back.stdout).copied).toMatchObject([{ kind: "directory", files: 30, path: `${here}/back` }]);
			expect(picture("back")).toEqual(picture(tree));
			const sha256 = createHash("sha256").update("x").digest("hex");
			expect(JSON.parse((await cp("--json", `:${dir}/first`, "one")).stdout).copied).toMatchObject([{ kind: "file", sha256 }]);
			expect((await cp(`:${dir}/none`, "two")).code).toBe(3);
		});
	});
}

function mountTight(above: string, owner: number | undefined): Tight {
	const [full, fixed] = [path.join(above, "full"), path.join(above, "fixed")];
	fs.chmodSync(above, 0o755);
	for (const dir of [full, fixed]) {
		fs.mkdirSync(dir);
		execFileSync("mount", ["-t", "tmpfs", "-o", "size=4M,mode=755", "tmpfs", dir]);
		if (owner !== undefined) fs.chownSync(dir, owner, owner);
	}
	fs.writeFileSync(path.join(fixed, "file"), "old\n", { mode: 0o644 });
	if (owner !== undefined) fs.chownSync(path.join(fixed, "file"), owner, owner);
	execFileSync("mount", ["-o", "remount,ro", fixed]);
	return { full, fixed };
}

function unmountTight({ full, fixed }: Tight, above: string): void {
	for (const dir of [full, fixed]) execFileSync("umount", [dir]);
	fs.rmSync(above, { recursive: true, force: true });
}
