import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PROGRAM = `
const { loadParser, parse } = await import(${JSON.stringify(path.resolve("dist/policy/tree.js"))});
await loadParser();
for (let n = 0; n < 20; n++) parse("echo " + n + " && git status --short | head -" + n);
`;

/** How V8 compiled the functions of WebAssembly, one word for each. */
async function compilers(...flags: string[]): Promise<string[]> {
	const argv = ["--trace-wasm-compilation-times", ...flags, "--input-type=module", "-e", PROGRAM];
	const { stdout } = await promisify(execFile)(process.execPath, argv, { maxBuffer: 1e8 });
	return Array.from(stdout.matchAll(/using (\w+),/g), ([, name]) => name as string);
}

test.skipIf(Number.parseInt(process.versions.v8, 10) >= 13)("the parser is compiled once: V8 does not optimize it while commands run", async () => {
	const used = new Set(await compilers());
	expect(used).toEqual(new Set(["Liftoff"]));
	expect(new Set(await compilers("--wasm-dynamic-tiering"))).toContain("TurboFan"); // the user's own flags count
});
