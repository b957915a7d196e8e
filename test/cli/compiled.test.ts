/** What the command line keeps of its compiled code: used by the next start, never trusted, and done without. */
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** An installation that may be damaged. */
const installed = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-test-installed-"));
const bin = path.join(installed, "dist/bin");
const compiled = path.join(bin, ".compiled");
const kept = (): string[] => fs.readdirSync(compiled).sort();

beforeAll(() => {
	for (const name of ["package.json", "dist/bin"]) fs.cpSync(name, path.join(installed, name), { recursive: true });
	fs.rmSync(compiled, { recursive: true, force: true });
});
afterAll(() => fs.rmSync(installed, { recursive: true }));

/** What `holdfast help` prints in that installation. */
function help({ options = [] as string[], as = [] as string[] } = {}): string {
	const [program = "", ...args] = [...as, process.execPath, ...options, path.join(bin, "holdfast.js"), "help"];
	const { stdout, stderr, status, signal } = spawnSync(program, args, { encoding: "utf8" });
	expect({ status, signal, stderr }).toMatchObject({ status: 0, signal: null });
	return stdout;
}

test("is written by the first start and used by the next", () => {
	const printed = help();
	expect(kept().map((name) => name.replace(/[-.].*/, ""))).toEqual(expect.arrayContaining(["main", "start"]));
	const before = kept().map((name) => fs.statSync(path.join(compiled, name)).mtimeMs);
	expect(help()).toBe(printed);
	expect(kept().map((name) => fs.statSync(path.join(compiled, name)).mtimeMs)).toEqual(before); // nothing had to be compiled
});

test("is of this version of the program and these flags of V8 alone", () => {
	const printed = help();
	const main = path.join(bin, "main.js");
	const text = fs.readFileSync(main, "utf8");
	fs.writeFileSync(main, text.replace("isTTY", "isTTy")); // of the same length, which is all that V8 compares
	const [file] = kept().filter((name) => name.startsWith("main.js."));
	const bytes = fs.readFileSync(path.join(compiled, file as string));
	help();
	expect(fs.readFileSync(path.join(compiled, file as string)).equals(bytes)).toBe(false);
	fs.writeFileSync(main, text);
	const count = kept().length;
	expect(help({ options: ["--no-wasm-tier-up"] })).toBe(printed);
	expect(kept().length).toBeGreaterThan(count);
});

test("is made anew where it is damaged, cut off or of another program", () => {
	const printed = help();
	const damages: ((bytes: Buffer) => Buffer)[] = [
		(bytes) => Buffer.concat([bytes.subarray(0, bytes.length / 2), Buffer.alloc(bytes.length / 2)]), // after a power failure
		(bytes) => bytes.subarray(0, bytes.length / 3),
		() => Buffer.alloc(0),
		(bytes) => Buffer.from(bytes).fill(0x55, 32 + 64),
	];
	for (const damage of damages) {
		for (const name of kept()) fs.writeFileSync(path.join(compiled, name), damage(fs.readFileSync(path.join(compiled, name))));
		expect(help()).toBe(printed);
	}
	expect(help()).toBe(printed);
});

test("is done without where the installation cannot be written to", () => {
	const printed = help();
	fs.rmSync(compiled, { recursive: true });
	fs.writeFileSync(compiled, ""); // a file where the directory should be, which root cannot write into either
	try {
		expect(help()).toBe(printed);
	} finally {
		fs.rmSync(compiled);
	}
	if (process.getuid?.() !== 0) return;
	execFileSync("chmod", ["-R", "a+rX", installed]);
	expect(help({ as: ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] })).toBe(printed);
	expect(fs.existsSync(compiled)).toBe(false);
});

test("does not grow without end", () => {
	fs.rmSync(compiled, { recursive: true, force: true });
	fs.mkdirSync(compiled);
	for (let i = 0; i < 400; i++) fs.writeFileSync(path.join(compiled, `old.js.${i}`), "");
	help();
	expect(kept().filter((name) => name.startsWith("old"))).toEqual([]);
	expect(kept().length).toBeGreaterThan(0);
});
