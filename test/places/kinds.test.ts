/** A new kind of place is a folder and one line: this one's is test/places/pipe, and the line is `registerKind(pipe)`. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../../src/base/config.js";
import * as library from "../../src/index.js";
import { type PlaceAsked, placeFrom, placeKey } from "../../src/places/address.js";
import { kinds, registerKind } from "../../src/places/kinds.js";
import { diagnose } from "../../src/process/doctor.js";
import { atEnd, tempDir, testRuntime } from "../support/home.js";
import { pipe } from "./pipe/kind.js";

afterAll(registerKind(pipe));

test("it is known everywhere by that line: addresses, objects, errors, keys, doctor", async () => {
	const home = tempDir("pipe");
	expect(placeKey(placeFrom(`pipe://${home}`, loadConfig), "a")).toBe(placeKey(placeFrom({ kind: "pipe", home, dir: "/" } as PlaceAsked, loadConfig), "b"));
	expect(() => placeFrom("moon", () => ({ places: {} }))).toThrow(/docker:\/\/container=name.* and pipe:\/\/\/home/);
	expect(() => placeFrom({ kind: "docker", home } as PlaceAsked, loadConfig)).toThrow(/"home", which is a key of pipe/);
	const runtime = await testRuntime({ place: `pipe://${home}` });
	expect(await runtime.terminal({ command: "cd /; A=1; echo $HOME" })).toMatchObject({ exit_code: 0, output: `${home}\n` });
	expect(await runtime.terminal({ command: "pwd; echo $A" })).toMatchObject({ exit_code: 0, output: "/\n1\n" });
	const { checks } = await diagnose(runtime);
	expect(checks.find(({ name }) => name === "place")).toMatchObject({ state: "ok", found: expect.stringContaining(`pipe://${home}: Linux`) });
});

test.each([
	[{ kind: "apptainer", image: "debian:12" }, /there is no apptainer on this machine .*install Apptainer/],
	[{ kind: "slurm", partition: "main" }, /there is no sinfo on this machine .*start Holdfast on a login node/],
	[{ kind: "kubernetes", image: "debian:12" }, /there is no kubectl on this machine .*install it/],
	[{ kind: "modal", image: "debian:12" }, /there is no token of Modal here; run `modal setup`/],
	[{ kind: "morph", snapshot: "snapshot_1" }, /there is no key for Morph here: set MORPH_API_KEY/],
])("doctor says what $kind lacks on this machine, and how to get it", async (place, words) => {
	const scratch = place.kind === "apptainer" ? { scratch: tempDir("scratch") } : {};
	const runtime = await testRuntime({ place: { ...place, ...scratch } as never });
	const before = { ...process.env };
	atEnd(() => {
		delete process.env.MODAL_CONFIG_PATH;
		Object.assign(process.env, before);
	});
	for (const name of Object.keys(before)) if (/^(MODAL|MORPH)_/.test(name)) delete process.env[name];
	Object.assign(process.env, { PATH: tempDir("bin"), MODAL_CONFIG_PATH: "/dev/null" });
	const { checks } = await diagnose(runtime);
	expect(checks.find(({ name }) => name === "place")).toMatchObject({ state: "fail", found: expect.stringMatching(words) });
});

test("nothing of Holdfast knows it by its name, and a program that uses the library cannot add one", () => {
	const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "src", "scripts", "test"], { encoding: "utf8" })
		.split("\n")
		.filter((file) => /\.(?:ts|mjs|sh|pl)$/.test(file) && fs.existsSync(file));
	const naming = files.filter((file) => /places\/pipe|name: "pipe"|(?<!n)pipe:\/\/|from "\.\/pipe\//.test(fs.readFileSync(file, "utf8")));
	expect(naming.filter((file) => !file.startsWith("test/places/pipe/"))).toEqual(["test/places/kinds.test.ts", "test/places/pending.test.ts"]);
	expect(Object.keys(library)).not.toContain("registerKind");
});

test("a name that is taken, or cannot be part of a key, is refused; a kind that was taken out is unknown again", () => {
	for (const name of ["ssh", "pipe", "", "a-b", "A", "../x"]) expect(() => registerKind({ ...pipe, name }), name).toThrow(/cannot be called/);
	const remove = registerKind({ ...pipe, name: "pipe2" });
	expect(kinds().map(({ name }) => name)).toContain("pipe2");
	remove();
	expect(() => placeFrom({ kind: "pipe2" }, loadConfig)).toThrow(/there is no kind of place "pipe2"/);
});
