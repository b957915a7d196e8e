/** The package as npm packs it, installed beside its dependencies: whole, importable, typed. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../support/home.js";

const manifest = JSON.parse(fs.readFileSync("package.json", "utf8")) as {
	bin: Record<string, string>;
	dependencies: Record<string, string>;
	exports: Record<string, { types: string; default: string }>;
};
const EXPORTS = Object.keys(manifest.exports).map((name) => name.replace(/^\./, "holdfast"));

test("a packed and installed package runs, exports what it names, and compiles in a strict TypeScript program", { timeout: 120_000 }, () => {
	const project = installed();

	const files = fs.readdirSync(path.join(project, "node_modules/holdfast"), { recursive: true }) as string[];
	const named = [...Object.values(manifest.bin), ...Object.values(manifest.exports).flatMap(({ types, default: file }) => [types, file])];
	for (const file of named) expect(files).toContain(path.normalize(file));
	expect(files.filter((file) => /\.map$|(^|\/)\.|^docs\/images/.test(file))).toEqual([]);

	const bin = path.join(project, "node_modules/holdfast", manifest.bin.holdfast as string);
	const env = { ...process.env, HOLDFAST_HOME: path.join(project, "home") };
	expect(execFileSync(process.execPath, [bin, "run", "--", "echo from the package"], { env, encoding: "utf8" })).toBe("from the package\n");
	expect(fs.statSync(bin).mode & 0o111).toBe(0o111);

	const imports = EXPORTS.map((name) => `if (Object.keys(await import("${name}")).length === 0) throw new Error("${name} is empty");`);
	execFileSync(process.execPath, ["--input-type=module", "-e", imports.join("\n")], { cwd: project });

	fs.writeFileSync(path.join(project, "consumer.ts"), CONSUMER);
	const strict = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--skipLibCheck", "false", "--types", "node"];
	const tsc = path.resolve("node_modules/typescript/bin/tsc");
	const compiled = execFileSync(process.execPath, [tsc, ...strict, "--module", "nodenext", "--target", "es2022", "consumer.ts"], {
		cwd: project,
		encoding: "utf8",
	});
	expect(compiled).toBe("");
});

/** A directory with the package in its node_modules, unpacked from what `npm pack` wrote, and the dependencies it names beside it. */
function installed(): string {
	const project = tempDir("project");
	execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", project], { encoding: "utf8" });
	const [tarball] = fs.readdirSync(project);
	const modules = path.join(project, "node_modules");
	fs.mkdirSync(path.join(modules, "holdfast"), { recursive: true });
	execFileSync("tar", ["-xzf", path.join(project, tarball as string), "-C", path.join(modules, "holdfast"), "--strip-components=1"]);
	fs.rmSync(path.join(project, tarball as string));
	for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
		fs.mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
		fs.symlinkSync(path.resolve("node_modules", name), path.join(modules, name));
	}
	fs.writeFileSync(path.join(project, "package.json"), '{ "type": "module" }\n');
	return project;
}

const CONSUMER = `
import { openRuntime, HoldfastError, renderResult, TOOLS } from "holdfast";
import * as policy from "holdfast/policy";
import * as screen from "holdfast/screen";
import * as mcp from "holdfast/mcp";

await using runtime = await openRuntime({ task: "consumer" });
const result = await runtime.terminal({ command: "true" });
const status: string = result.status;
console.log(status, TOOLS.length, renderResult, HoldfastError, policy, screen, mcp);
`;
