/** The package as npm packs it, installed beside the packed core in a project that has nothing else: whole, importable, typed; and the example of its README. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as attw from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelServer } from "../model-server/index.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, type World } from "../support/seat.js";

interface Manifest {
	readonly bin: Readonly<Record<string, string>>;
	readonly dependencies: Readonly<Record<string, string>>;
	readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
}
const read = (file: string): Manifest => JSON.parse(fs.readFileSync(file, "utf8")) as Manifest;
const manifest = read("agent/package.json");
const exported = Object.keys(manifest.exports).map((name) => name.replace(/^\./, "holdfast-agent"));

describe("a packed and installed package", () => {
	let tarball: Buffer;
	const project = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-test-agent-project-"));
	const modules = path.join(project, "node_modules");
	const bin = path.join(modules, "holdfast-agent", manifest.bin["holdfast-agent"] as string);
	afterAll(() => fs.rmSync(project, { recursive: true, force: true }));

	beforeAll(() => {
		fs.writeFileSync(path.join(project, "package.json"), '{ "type": "module" }\n');
		install("holdfast", ".");
		tarball = install("holdfast-agent", "agent");
	});

	/** Packs a package and unpacks it into the project, with the dependencies that it names beside it. */
	function install(name: string, from: string): Buffer {
		const packed = path.join(project, `packed-${name}`);
		fs.mkdirSync(packed);
		execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", packed], { cwd: from });
		const file = path.join(packed, fs.readdirSync(packed)[0] as string);
		fs.mkdirSync(path.join(modules, name), { recursive: true });
		execFileSync("tar", ["-xzf", file, "-C", path.join(modules, name), "--strip-components=1"]);
		for (const dependency of [...Object.keys(read(path.join(from, "package.json")).dependencies), "@types/node"]) {
			const link = path.join(modules, dependency);
			fs.mkdirSync(path.dirname(link), { recursive: true });
			if (!fs.existsSync(link)) fs.symlinkSync(path.resolve("node_modules", dependency), link);
		}
		return fs.readFileSync(file);
	}

	/** Runs something in the project; resolves with what it prints. */
	async function node(world: World, argv: readonly string[]): Promise<string> {
		const child = spawn(process.execPath, argv, {
			cwd: project,
			env: { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" },
			stdio: ["ignore", "pipe", "inherit"],
		});
		let printed = "";
		for await (const text of child.stdout.setEncoding("utf8")) printed += text;
		return printed;
	}

	it("has every file that it names, and no sources or maps", () => {
		const files = fs.readdirSync(path.join(modules, "holdfast-agent"), { recursive: true }) as string[];
		const named = [...Object.values(manifest.bin), ...Object.values(manifest.exports).flatMap(({ types, default: file }) => [types, file])];
		for (const file of named) expect(files).toContain(path.normalize(file));
		expect(files).toEqual(expect.arrayContaining(["README.md", "docs/turns.md"]));
		expect(files.filter((file) => /\.map$|(^|\/)\.|^(src|test|web)\//.test(file))).toEqual([]);
		expect(fs.statSync(bin).mode & 0o111).toBe(0o111);
	});

	it("runs: a turn with a command, by its bin; the example of the README; and the core finds its part of the page", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		expect(await node(world, [bin, "-q", "run echo from the package"])).toBe("Done: [exited, exit code 0] / from the package\n");
		const [, example] = /```ts\n([\s\S]*?)```/.exec(fs.readFileSync("agent/README.md", "utf8")) ?? [];
		// In plain JavaScript of Node 20: no `using`.
		const plain = `${(example ?? "").replace("await using agent", "const agent")}\nawait agent.close();`;
		expect(await node(world, ["--input-type=module", "-e", plain])).toBe("You said: why does make fail?");
		const imports = exported.map((name) => `if (Object.keys(await import("${name}")).length === 0) throw new Error("${name} is empty");`);
		expect(await node(world, ["--input-type=module", "-e", `${imports.join("\n")}\nconsole.log("imported");`])).toBe("imported\n");
		const doctor = JSON.parse(await node(world, [path.join(modules, "holdfast/dist/bin/holdfast.js"), "doctor", "--json"])) as { checks: { name: string }[] };
		expect(doctor.checks.filter(({ name }) => name === "page")).toMatchObject([{ state: "ok", found: expect.stringContaining("Agent") }]);
	});

	it("has nothing that publint finds wrong", async () => {
		const { messages, pkg } = await publint({ pkgDir: path.join(modules, "holdfast-agent"), pack: false, strict: true });
		expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
	});

	it("gives TypeScript the types of what Node loads, and the example of the README compiles strictly", async () => {
		const result = await attw.checkPackage(attw.createPackageFromTarballData(tarball));
		if (!result.types) throw new Error("no types");
		const concerns = ({ resolutionKind }: { resolutionKind?: attw.ResolutionKind }) => resolutionKind !== "node10" && resolutionKind !== "node16-cjs"; // there is no CommonJS here
		expect(result.problems.filter((problem) => concerns(problem as { resolutionKind?: attw.ResolutionKind }))).toEqual([]);
		expect(Object.keys(result.entrypoints).sort()).toEqual(Object.keys(manifest.exports).sort());
		const [, example] = /```ts\n([\s\S]*?)```/.exec(fs.readFileSync("agent/README.md", "utf8")) ?? [];
		fs.writeFileSync(path.join(project, "example.ts"), `${example}\nexport {};\n`);
		const strict = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--types", "node", "--module", "nodenext", "--target", "es2022"];
		const tsc = [path.resolve("node_modules/typescript/bin/tsc"), ...strict, "--lib", "es2023,esnext.disposable", "example.ts"];
		expect(await node(newWorld(), tsc)).toBe("");
	});
});
