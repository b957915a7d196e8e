/** What a command of the CLI loads: it is most of what a short one costs. */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { cli } from "../support/cli.js";
import { tempDir } from "../support/home.js";

const HOOK = path.resolve("test/fixtures/loaded.mjs");

/** Names of packages, and of our own files below `dist`; a chunk of the bundle counts as the files that it was made of. */
async function loaded(...args: string[]): Promise<string[]> {
	const [home, list] = [tempDir("home"), path.join(tempDir("loaded"), "list")];
	expect(await cli(home, args, { env: { LOADED: list, NODE_OPTIONS: `--import ${HOOK}` } })).toMatchObject({ code: 0 });
	const urls = fs.readFileSync(list, "utf8").trim().split("\n");
	const files = urls.filter((url) => url.startsWith("file:")).map((url) => path.relative(process.cwd(), fileURLToPath(url)));
	const name = (file: string) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file.replace(/^dist\//, "");
	return [...new Set(files.flatMap((file) => (file.startsWith("dist/bin/") ? partsOf(file) : [file])).map(name))];
}

const PARTS = JSON.parse(fs.readFileSync("dist/bin/.parts.json", "utf8")) as Record<string, string[]>;
const partsOf = (chunk: string): string[] => (PARTS[path.basename(chunk)] ?? [chunk]).filter((name) => !name.startsWith("\0")); // the bundler's own

test("--version and one command's help load no other command, and no package", async () => {
	const version = await loaded("--version");
	expect(version).toContain("doors/cli/main.js");
	expect(version.filter((name) => !name.startsWith("base/") && !name.startsWith("doors/cli/"))).toEqual([]);
	expect(version.filter((name) => name.startsWith("doors/cli/commands/"))).toEqual(["doors/cli/commands/index.js"]);
	const help = await loaded("prune", "--help");
	expect(help.filter((name) => name.startsWith("doors/cli/commands/")).sort()).toEqual(["doors/cli/commands/index.js", "doors/cli/commands/prune.js"]);
});

test("what containers need is loaded with the first container, and the parser of commands with the first decision", async () => {
	const heavy = ["places/docker/engine.js", "web-tree-sitter", "@xterm/headless", "@modelcontextprotocol/server", "hono"];
	for (const args of [["ps"], ["run", "--", "true"], ["end", "default"]]) {
		const names = await loaded(...args);
		expect(names, args.join(" ")).toContain("process/runtime.js");
		expect(
			names.filter((name) => heavy.includes(name)),
			args.join(" "),
		).toEqual([]);
	}
	expect(await loaded("sandboxes")).toContain("places/docker/engine.js"); // so that the list above is one that can be seen
});
