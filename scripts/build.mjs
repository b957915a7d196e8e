// Compile, put the shell scripts and the grammar of bash beside the code that uses them, bundle the command line and the library, and build the page.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { buildBundles } from "./build-bundles.mjs";
import { buildScripts } from "./build-scripts.mjs";
import { buildTypes } from "./build-types.mjs";
import { buildWeb } from "./build-web.mjs";
import { root } from "./setup.mjs";

if (hasChanged("src", "dist/.tsbuildinfo")) console.error("compiling …");
compile("tsconfig.json");
buildScripts();
for (const script of [
	"keeper/pty.py",
	"keeper/copy.pl",
	"keeper/restart.sh",
	"keeper/pty.pl",
	"places/holder.sh",
	"places/switch.sh",
	"places/apptainer/fetch.sh",
	"places/slurm/holder.sh",
	"places/slurm/relay.sh",
	"places/link/bridge.sh",
	"shell/rc.bash",
	"shell/rescue.bash",
	"sudo/askpass.mjs",
]) {
	const target = path.join(root, "dist", script);
	fs.mkdirSync(path.dirname(target), { recursive: true });
	fs.copyFileSync(path.join(root, "src", script), target);
}
for (const [from, name] of [
	["tree-sitter-bash/tree-sitter-bash.wasm", "tree-sitter-bash.wasm"],
	["web-tree-sitter/web-tree-sitter.js", "web-tree-sitter.mjs"],
	["web-tree-sitter/web-tree-sitter.wasm", "web-tree-sitter.wasm"], // which the parser looks for beside itself
])
	fs.copyFileSync(path.join(root, "node_modules", from), path.join(root, "dist/policy", name));
buildTypes();
await buildBundles();
buildMan();
await buildWeb();
compile("agent/tsconfig.json"); // against the declarations of the core
compile("browser/tsconfig.json");
fs.chmodSync(path.join(root, "agent/dist/cli/main.js"), 0o755);
linkAgent();

/** The pages that `npm install -g` brings: what the built command line says of itself. */
function buildMan() {
	const [bin, dir] = [path.join(root, "dist/bin/holdfast.js"), path.join(root, "dist/man")];
	const made = fs.statSync(path.join(dir, "holdfast.1"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
	if (made > fs.statSync(bin).mtimeMs) return;
	const { status } = spawnSync(process.execPath, [bin, "man", "--output", dir, "--json"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
	if (status !== 0) process.exit(status ?? 1);
	fs.rmSync(path.join(root, "dist/bin/.compiled"), { recursive: true, force: true }); // little of each chunk: the first real command keeps more
}

/** For `npx holdfast-agent`: npm links only commands that are there when it installs, and this one comes with the build. */
function linkAgent() {
	try {
		fs.symlinkSync("../holdfast-agent/dist/cli/main.js", path.join(root, "node_modules/.bin/holdfast-agent"));
	} catch {
		// It is there, made by another build at the same moment perhaps; or npm was told to make no links.
	}
}

/** Whether a file below a folder is newer than another file, or that is not there. */
function hasChanged(folder, file) {
	const made = fs.statSync(path.join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
	return fs.readdirSync(path.join(root, folder), { recursive: true }).some((name) => fs.statSync(path.join(root, folder, name)).mtimeMs > made);
}

function compile(project) {
	const { status } = spawnSync(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-b", project], { cwd: root, stdio: "inherit" });
	if (status !== 0) process.exit(status ?? 1);
}
