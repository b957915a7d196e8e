/** The package as npm packs it, installed beside its dependencies: whole, importable, typed; and what the documents show of it compiles. */
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as attw from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const manifest = JSON.parse(fs.readFileSync("package.json", "utf8")) as {
	bin: Record<string, string>;
	dependencies: Record<string, string>;
	exports: Record<string, { types: string; default: string }>;
};
const EXPORTS = Object.keys(manifest.exports).map((name) => name.replace(/^\./, "holdfast"));

describe("a packed and installed package", () => {
	let tarball: Buffer;
	const project = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-test-project-"));
	const packed = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-test-packed-"));
	afterAll(() => {
		for (const dir of [project, packed]) fs.rmSync(dir, { recursive: true, force: true });
	});

	beforeAll(() => {
		execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", packed]);
		const file = path.join(packed, fs.readdirSync(packed)[0] as string);
		tarball = fs.readFileSync(file);
		install(file, project);
	});

	it("has every file that it names, and no other kind", () => {
		const files = fs.readdirSync(path.join(project, "node_modules/holdfast"), { recursive: true }) as string[];
		const named = [...Object.values(manifest.bin), ...Object.values(manifest.exports).flatMap(({ types, default: file }) => [types, file])];
		for (const file of named) expect(files).toContain(path.normalize(file));
		expect(files.filter((file) => /\.map$|(^|\/)\.|^docs\/images/.test(file))).toEqual([]);
		expect(files.filter((file) => file.endsWith(".js") && !/^dist\/(bin|lib|web)\//.test(file))).toEqual([]); // code comes in bundles
		expect(files).toContain("dist/lib/probes.js"); // started by its path
	});

	it("runs", () => {
		const bin = path.join(project, "node_modules/holdfast", manifest.bin.holdfast as string);
		const env = { ...process.env, HOLDFAST_HOME: path.join(project, "home") };
		expect(execFileSync(process.execPath, [bin, "run", "--", "echo from the package"], { env, encoding: "utf8" })).toBe("from the package\n");
		expect(fs.statSync(bin).mode & 0o111).toBe(0o111);
	});

	it("shows what holdfast-agent brings to the page where it is installed, says what is wrong with a broken one, and misses none", () => {
		const bin = path.join(project, "node_modules/holdfast", manifest.bin.holdfast as string);
		const env = { ...process.env, HOLDFAST_HOME: path.join(project, "home") };
		const onPage = () => {
			const { stdout } = spawnSync(process.execPath, [bin, "doctor", "--json"], { env, encoding: "utf8" });
			return (JSON.parse(stdout) as { checks: { name: string; state: string; found: string }[] }).checks.filter(({ name }) => name === "page");
		};
		expect(onPage()).toEqual([]);
		const agent = path.join(project, "node_modules/holdfast-agent");
		fs.mkdirSync(agent);
		fs.writeFileSync(path.join(agent, "package.json"), JSON.stringify({ name: "holdfast-agent", type: "module", exports: { "./page": "./page.js" } }));
		const brings = (code: string) => fs.writeFileSync(path.join(agent, "page.js"), code);
		brings('import "a-package-that-is-missing";');
		expect(onPage()).toMatchObject([{ state: "warn", found: expect.stringContaining("a-package-that-is-missing") }]);
		brings("export const sitePart = () => ({ name: 'agent' });");
		expect(onPage()).toMatchObject([{ state: "warn", found: expect.stringContaining("no part of this page") }]);
		brings("export const sitePart = ({ home }) => ({ name: 'agent', label: 'Agent', files: home, script: 'a.js', fetch: () => new Response(home) });");
		expect(onPage()).toMatchObject([{ state: "ok", found: expect.stringContaining("Agent") }]);
		fs.rmSync(agent, { recursive: true });
	});

	it("says how to get Modal's library where it is missing or another one, and uses it where it is installed beside", () => {
		const bin = path.join(project, "node_modules/holdfast", manifest.bin.holdfast as string);
		const env = { PATH: process.env.PATH, HOLDFAST_HOME: path.join(project, "home"), MODAL_CONFIG_PATH: "/dev/null" };
		const found = () => {
			const { stdout } = spawnSync(process.execPath, [bin, "doctor", "--json", "--place", "modal://debian:12"], { env, encoding: "utf8" });
			const { checks } = JSON.parse(stdout) as { checks: { name: string; found: string; advice?: string }[] };
			return JSON.stringify(checks.find(({ name }) => name === "place"));
		};
		expect(found()).toContain(`Modal's library is not installed; run in ${project}: npm install modal@0.11.1`);
		const library = path.join(project, "node_modules/modal");
		fs.mkdirSync(library);
		fs.writeFileSync(path.join(library, "package.json"), JSON.stringify({ name: "modal", version: "1.2.0", main: "index.js" }));
		fs.writeFileSync(path.join(library, "index.js"), "module.exports = function modal() {};");
		expect(found()).toContain(`is not Modal's library; run in ${project}: npm install modal@0.11.1`);
		fs.rmSync(library, { recursive: true });
		fs.symlinkSync(path.resolve("node_modules/modal"), library);
		expect(found()).toContain("there is no token of Modal here");
		fs.rmSync(library);
	});

	it("exports something under each of its names", () => {
		const imports = EXPORTS.map((name) => `if (Object.keys(await import("${name}")).length === 0) throw new Error("${name} is empty");`);
		execFileSync(process.execPath, ["--input-type=module", "-e", imports.join("\n")], { cwd: project });
	});

	it("has nothing that publint finds wrong", async () => {
		const { messages, pkg } = await publint({ pkgDir: path.join(project, "node_modules/holdfast"), pack: false, strict: true });
		expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
	});

	it("gives TypeScript the types of what Node loads, for importers that are ES modules or bundled", async () => {
		const result = await attw.checkPackage(attw.createPackageFromTarballData(tarball));
		if (!result.types) throw new Error("no types");
		const concerns = ({ resolutionKind }: { resolutionKind?: attw.ResolutionKind }) => resolutionKind !== "node10" && resolutionKind !== "node16-cjs"; // there is no CommonJS here
		expect(result.problems.filter((problem) => concerns(problem as { resolutionKind?: attw.ResolutionKind }))).toEqual([]);
		expect(Object.keys(result.entrypoints).sort()).toEqual(Object.keys(manifest.exports).sort());
	});

	it("compiles, strictly, in a program that uses it and in every example of the documents", () => {
		const examples = [
			"README.md",
			...fs
				.readdirSync("docs")
				.filter((name) => name.endsWith(".md"))
				.map((name) => `docs/${name}`),
		].flatMap(examplesIn);
		expect(examples.length).toBeGreaterThan(3);
		const files = [...examples, { name: "consumer.ts", text: CONSUMER }];
		for (const { name, text } of files) fs.writeFileSync(path.join(project, name), text);
		const strict = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--skipLibCheck", "false", "--types", "node"];
		const names = files.map(({ name }) => name);
		const tsc = path.resolve("node_modules/typescript/bin/tsc");
		const compiled = () =>
			execFileSync(process.execPath, [tsc, ...strict, "--module", "nodenext", "--target", "es2022", "--lib", "es2023,esnext.disposable", ...names], {
				cwd: project,
				encoding: "utf8",
			});
		expect(outputOf(compiled)).toBe("");
	});
});

it("docs/library.md names every export of the library", () => {
	const text = fs.readFileSync("docs/library.md", "utf8");
	const lists = [...fs.readFileSync("src/index.ts", "utf8").matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list]) => list as string);
	const exported = lists.flatMap((list) => list.split(",").flatMap((one) => one.trim().split(" ").at(-1) || []));
	expect(exported).toContain("openRuntime");
	expect(exported.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

/** What tsc prints when it fails is what this test has to say. */
function outputOf(run: () => string): string {
	try {
		return run();
	} catch (error) {
		return (error as { stdout: string }).stdout;
	}
}

/** The TypeScript of a document, each block as a module of its own. */
function examplesIn(document: string): { name: string; text: string }[] {
	const blocks = [...fs.readFileSync(document, "utf8").matchAll(/^```ts\n(.*?)^```/gms)];
	return blocks.map(([, text], at) => ({ name: `${path.basename(document, ".md")}-${at}.ts`, text: `${text}\nexport {};\n` }));
}

/** Unpacks a tarball into the node_modules of a project, with the dependencies that the package names beside it. */
function install(tarball: string, project: string): void {
	const modules = path.join(project, "node_modules");
	fs.mkdirSync(path.join(modules, "holdfast"), { recursive: true });
	execFileSync("tar", ["-xzf", tarball, "-C", path.join(modules, "holdfast"), "--strip-components=1"]);
	for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
		fs.mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
		fs.symlinkSync(path.resolve("node_modules", name), path.join(modules, name));
	}
	fs.writeFileSync(path.join(project, "package.json"), '{ "type": "module" }\n');
}

const CONSUMER = `
import { openRuntime, HoldfastError, renderResult, TOOLS } from "holdfast";
import * as policy from "holdfast/policy";
import * as screen from "holdfast/screen";
import * as mcp from "holdfast/mcp";
import * as http from "holdfast/http";
import * as testing from "holdfast/testing";

await using runtime = await openRuntime({ task: "consumer" });
const result = await runtime.terminal({ command: "true" });
const status: string = result.status;
console.log(status, TOOLS.length, renderResult, HoldfastError, policy, screen, mcp, http, testing);
`;
