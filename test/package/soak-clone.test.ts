/** A fresh clone, in which nothing is built: `npm pack` builds what it packs. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../support/home.js";

test("npm pack in a fresh clone installs, builds and packs a program that runs", { timeout: 600_000 }, () => {
	const clone = path.join(tempDir("clone"), "holdfast");
	execFileSync("git", ["clone", "--quiet", process.cwd(), clone]);
	execFileSync("npm", ["pack", "--silent"], { cwd: clone, stdio: ["ignore", "ignore", "inherit"] });
	const tarball = fs.readdirSync(clone).find((name) => name.endsWith(".tgz")) as string;
	const listed = execFileSync("tar", ["-tzf", path.join(clone, tarball)], { encoding: "utf8" }).split("\n");
	for (const file of ["dist/lib/index.js", "dist/bin/holdfast.js", "dist/keeper/keeper.sh", "dist/web/index.html"]) expect(listed).toContain(`package/${file}`);
});
