// Compile, put the shell scripts and the grammar of bash beside the code that uses them, bundle the command line, and build the page.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { buildBin } from "./build-bin.mjs";
import { buildWeb } from "./build-web.mjs";
import { root } from "./setup.mjs";

const { status } = spawnSync(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-b"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
for (const script of [
	"keeper/keeper.sh",
	"keeper/pty.py",
	"keeper/pty.pl",
	"places/holder.sh",
	"places/docker/switch.sh",
	"places/link/link.sh",
	"places/link/link.pl",
	"shell/rc.bash",
	"shell/rescue.bash",
	"sudo/askpass.mjs",
]) {
	const target = path.join(root, "dist", script);
	fs.mkdirSync(path.dirname(target), { recursive: true });
	fs.copyFileSync(path.join(root, "src", script), target);
}
fs.copyFileSync(path.join(root, "node_modules/tree-sitter-bash/tree-sitter-bash.wasm"), path.join(root, "dist/policy/tree-sitter-bash.wasm"));
await buildBin();
await buildWeb();
