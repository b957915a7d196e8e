import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { copy, nearFiles, strictFiles } from "../../../src/places/files/index.js";
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
	const [near, strict] = [nearFiles(), strictFiles()];
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
