import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { commandEnd, copy, localFiles, remoteFiles, strictFiles } from "../../../src/places/files/index.js";
import { noExchange } from "../../support/exchange.js";
import { tempDir } from "../../support/home.js";
import { raceCopies } from "./race.js";

test.skipIf(noExchange)("a copy stays in its directory while that changes places with a link to another one", async () => {
	expect(await raceCopies(40)).toBeGreaterThan(0);
});

test("a copy goes through no link on this machine, and leaves out what an end refuses", async () => {
	const dir = fs.realpathSync(tempDir());
	const at = (name: string) => path.join(dir, name);
	for (const name of ["outside", "far/tree/sub", "here/.hidden/deep"]) fs.mkdirSync(at(name), { recursive: true });
	for (const name of ["outside/s", "far/evil", "here/.hidden/deep/x", "here/seen"]) fs.writeFileSync(at(name), name);
	for (const [name, target] of [
		["here/dir", "../outside"],
		["here/file", "../outside/s"],
		["here/dangling", "../outside/new"],
		["far/tree/inside", "sub/x"],
		["far/tree/sub/up", "../inside"],
		["far/tree/absolute", "/etc/passwd"],
		["far/tree/above", "../evil"],
		["far/tree/sub/above", "../../evil"],
		["far/tree/roundabout", "sub/../../evil"],
	] as const)
		fs.symlinkSync(target, at(name));
	const [near, strict] = [localFiles(), strictFiles()];
	for (const name of ["here/dir", "here/dir/s", "here/file", "here/dangling"]) {
		await expect(copy({ files: strict, path: at(name) }, { files: near, path: at("far/got") })).rejects.toThrow(/symbolic link/);
		await expect(copy({ files: near, path: at("far/evil") }, { files: strict, path: at(name) })).rejects.toThrow(/symbolic link/);
	}
	expect(fs.readdirSync(at("outside"))).toEqual(["s"]);
	expect(fs.readFileSync(at("outside/s"), "utf8")).toBe("outside/s");
	const refuse = (file: string) => (file.includes("/.") ? "it is hidden" : undefined);
	const down = await copy({ files: near, path: at("far/tree") }, { files: strict, path: at("here/new"), refuse });
	expect(fs.readdirSync(at("here/new"), { recursive: true }).sort()).toEqual(["inside", "sub", "sub/up"]);
	expect(down.skipped).toHaveLength(4);
	await expect(copy({ files: near, path: `${at("far/tree")}/.` }, { files: strict, path: at("here/new"), refuse })).rejects.toThrow(/there already/);
	await expect(copy({ files: near, path: at("far/evil") }, { files: strict, path: at("here/.bashrc"), refuse })).rejects.toThrow(/it is hidden/);
	const up = await copy({ files: strict, path: at("here"), refuse }, { files: near, path: at("far/back") });
	expect(up.skipped).toEqual([".hidden (it is hidden)"]);
	expect(fs.existsSync(at("far/back/.hidden"))).toBe(false);
	expect(fs.readFileSync(at("far/back/seen"), "utf8")).toBe("here/seen");
});

test("names that a remote end makes up do not lead out of the folder, and a file that grows without end is given up", async () => {
	const dir = fs.realpathSync(tempDir());
	const at = (name: string) => path.join(dir, name);
	for (const name of ["bin", "far/deep/tree", "here"]) fs.mkdirSync(at(name), { recursive: true });
	fs.writeFileSync(at("far/planted"), Buffer.alloc(2_000_000));
	const said = [
		"81a4 2000000 0 0 0 1 ./../../planted//",
		"81a4 1 0 0 0 1 ./../small//",
		"4140 0 0 0 0 2 ./../../locked//",
		"a1ff 1 0 0 0 1 ./x/../../link//",
		"81a4 1 0 0 0 1 .//etc/x//",
	];
	fs.writeFileSync(at("bin/find"), `#!/bin/sh\nprintf '%s\\n' ${said.map((line) => `'${line}'`).join(" ")}\n`, { mode: 0o755 });
	const far = remoteFiles(commandEnd(() => ["sh"], { PATH: `${at("bin")}:${process.env.PATH}` }));
	const { skipped } = await copy({ files: far, path: at("far/deep/tree") }, { files: strictFiles(), path: at("here/new") });
	expect(skipped).toHaveLength(5);
	expect(fs.readdirSync(dir, { recursive: true }).sort()).toEqual(["bin", "bin/find", "far", "far/deep", "far/deep/tree", "far/planted", "here", "here/new"]);
	const near = localFiles();
	let reads = 0;
	const growing = {
		...near,
		stat: async (file: string) => ({ ...(await near.stat(file)), size: 1000, version: String(reads) }) as Awaited<ReturnType<typeof near.stat>>,
		read: async (_file: string, _offset: number, max: number) => Buffer.alloc(reads++ < 1_000 ? max : 0),
	};
	await expect(copy({ files: growing, path: at("far/planted") }, { files: strictFiles(), path: at("here/grown") })).rejects.toThrow(/changes all the time/);
	expect(reads).toBeLessThan(100);
});
