// Compile, and put the keeper's scripts beside the code that starts them.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { root } from "./setup.mjs";

const { status } = spawnSync(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-b"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
fs.mkdirSync(path.join(root, "dist/keeper"), { recursive: true });
for (const name of ["keeper.sh", "pty.py", "pty.pl"]) fs.copyFileSync(path.join(root, "src/keeper", name), path.join(root, "dist/keeper", name));
const cli = path.join(root, "dist/doors/cli/main.js");
if (fs.existsSync(cli)) fs.chmodSync(cli, 0o755);
