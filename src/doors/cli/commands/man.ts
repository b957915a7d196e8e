import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { counted, fromSystem, HoldfastError } from "../../../base/index.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { commandNamed } from "./index.js";

export const man: CommandBody = {
	name: "man",
	usage: "[COMMAND] | --output DIR",
	options: { output: { type: "string", short: "o", value: "DIR", help: "write all pages into this directory, as NAME.1" } },
	teach: `
On a terminal the page is shown by man(1), if that is installed; else it is printed as man(1) reads it. An installation with
npm install -g brings the pages with it: man holdfast, man holdfast-run.

Examples
  holdfast man run
  holdfast man --output ~/.local/share/man/man1`,
	async run(call) {
		const [name, ...more] = call.words;
		if (more.length > 0) throw new HoldfastError("INVALID", `only one command is expected, not also "${more.join(" ")}"`);
		const { manPages, commandPage, overviewPage } = await import("../man.js");
		if (typeof call.values.output === "string") {
			if (name !== undefined) throw new HoldfastError("INVALID", "--output writes all pages; leave out the command");
			return write(call, call.values.output, await manPages());
		}
		const page = name === undefined || name === "holdfast" ? overviewPage() : await commandPage(await commandNamed(name.replace(/^holdfast-/, "")));
		if (call.out.json) call.out.data({ page });
		else if (!process.stdout.isTTY || !shown(page)) process.stdout.write(page);
		return EXIT.ok;
	},
};

function write({ out }: CliCall, dir: string, pages: ReadonlyMap<string, string>): number {
	try {
		fs.mkdirSync(dir, { recursive: true });
		for (const [name, page] of pages) fs.writeFileSync(path.join(dir, name), page);
	} catch (error) {
		throw fromSystem(error, `cannot write the pages to ${dir}`);
	}
	const files = [...pages.keys()].map((name) => path.join(dir, name));
	if (out.json) out.data({ files });
	else out.note(`${counted(files.length, "page")} written to ${dir}`);
	return EXIT.ok;
}

/** Shows the page by man(1), which wants a file. Returns false where man is not installed. */
function shown(page: string): boolean {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-man-"));
	try {
		const file = path.join(dir, "holdfast.1");
		fs.writeFileSync(file, page);
		const { error, status } = spawnSync("man", ["-l", file], { stdio: "inherit" });
		return error === undefined && status === 0;
	} finally {
		fs.rmSync(dir, { recursive: true, force: true });
	}
}
