import path from "node:path";
import { ensureBuilt, ensureDependencies, root, run } from "./setup.mjs";

ensureDependencies();
ensureBuilt();
run(process.execPath, [path.join(root, "dist/doors/cli/main.js"), "demo", ...process.argv.slice(2)]);
