import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../../../src/base/config.js";
import { boundaryOf, placeFrom, placeName } from "../../../src/places/address.js";
import { apptainerHost } from "../../../src/places/apptainer/host.js";
import { apptainerSettings } from "../../../src/places/apptainer/options.js";
import { apptainerProgram } from "../../../src/places/apptainer/program.js";
import { scratchOf } from "../../../src/places/apptainer/scratch.js";
import { refused } from "../../../src/places/apptainer/words.js";
import { atEnd, tempDir } from "../../support/home.js";

const none = () => ({ places: {} });

it("an address names an image of a registry or a SIF file, and a directory behind two slashes", () => {
	const parsed = (text: string) => placeFrom(text, none).options;
	expect(parsed("apptainer://debian:12")).toEqual({ image: "debian:12" });
	expect(parsed("apptainer://docker://ghcr.io/me/tools:3//srv/app")).toEqual({ image: "ghcr.io/me/tools:3", workdir: "/srv/app" });
	expect(parsed("apptainer:///data/tools.sif")).toEqual({ image: "/data/tools.sif" });
	expect(parsed("apptainer:///data/tools.sif//srv")).toEqual({ image: "/data/tools.sif", workdir: "/srv" });
	expect(placeName(placeFrom("apptainer:///data/tools.sif//srv", none))).toBe("apptainer:///data/tools.sif");
});

it.each([
	["apptainer://", "the image is missing"],
	["apptainer://library://alpine", "images are taken from registries and SIF files, not from library://"],
	["apptainer://Debian", "in lower case"],
	["apptainer:///a:b.sif", "cannot contain a colon"],
	["apptainer://debian//a/../b", 'cannot contain ".."'],
])("%s is refused: %s", (text, words) => {
	expect(() => placeFrom(text, none)).toThrow(words);
});

it("a key of another kind, and one for a password, are refused by name", () => {
	expect(() => placeFrom({ kind: "apptainer", image: "debian:12", engine: "x" } as never, none)).toThrow('there is no key "engine", which is a key of docker');
	expect(() => placeFrom({ kind: "apptainer", image: "debian:12", password: "x" } as never, none)).toThrow("password");
});

it("is a boundary as far as what it shows of this machine", () => {
	const boundary = (volumes: string[]) => boundaryOf(placeFrom({ kind: "apptainer", image: "debian:12", volumes } as never, none), loadConfig);
	expect(boundary([])).toEqual({ contains: true, hides: true });
	expect(boundary(["/etc:/x"])).toEqual({ contains: false, hides: false });
});

it("the program is apptainer, else singularity; without one the error says how to get it", async () => {
	const [bin, before] = [tempDir("bin"), process.env.PATH];
	atEnd(() => {
		process.env.PATH = before;
	});
	process.env.PATH = bin;
	expect(apptainerProgram().name).toBe("apptainer");
	const host = apptainerHost({ image: "debian:12", scratch: tempDir("scratch") }, { home: tempDir("home"), task: "t" });
	await expect(host.start()).rejects.toMatchObject({
		code: "UNSUPPORTED",
		message: expect.stringMatching(/^there is no apptainer on this machine .*module load apptainer/),
	});
	fs.writeFileSync(path.join(bin, "singularity"), "#!/bin/sh\n", { mode: 0o755 });
	expect(apptainerProgram().name).toBe("singularity");
});

it.each([
	[
		"FATAL:   While pulling: requested access to the resource is denied",
		"START_FAILED",
		/^there is no image tools:1, or this user may not have it .*registry login/,
	],
	["FATAL:   while copying: write /scratch/x: no space left on device", "START_FAILED", /^there is no room for it .*name another directory with `scratch`/],
	["FATAL:   while copying: write /home/me/x: disk quota exceeded", "START_FAILED", /^there is no room for it .*name another directory with `scratch`/],
	["FATAL:   Failed to create container process: No space left on device", "START_FAILED", /^no more user namespaces can be made here/],
	['FATAL:   could not start squashfuse: exec: "squashfuse"', "START_FAILED", /^images cannot be mounted here .*install squashfuse/],
])("what Apptainer refuses is told in words: %s", (said, code, words) => {
	const error = refused("the Apptainer instance cannot be started", said, apptainerSettings({ image: "tools:1" }));
	expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
});

it("scratch is what was asked for, else APPTAINER_TMPDIR, else the state directory", () => {
	expect(scratchOf("/a", { APPTAINER_TMPDIR: "/b", HOME: "/h" }).dir).toBe("/a/holdfast");
	expect(scratchOf(undefined, { APPTAINER_TMPDIR: "/b", HOME: "/h" }).dir).toBe("/b/holdfast");
	expect(scratchOf(undefined, { SINGULARITY_TMPDIR: "/c", HOME: "/h" }).dir).toBe("/c/holdfast");
	expect(scratchOf(undefined, { HOME: "/h" }).dir).toBe("/h/.local/state/holdfast");
});
