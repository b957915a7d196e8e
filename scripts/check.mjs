// Everything that can be said about the code without running it.
import path from "node:path";
import { ensureBuilt, ensureDependencies, root, run } from "./setup.mjs";

const bin = (name) => path.join(root, "node_modules", ".bin", name);

ensureDependencies();
ensureBuilt();
run(bin("tsc"), ["-p", "tsconfig.test.json"]);
run(bin("tsc"), ["-p", "web/tsconfig.json"]);
run(bin("tsc"), ["-p", "agent/tsconfig.test.json"]);
run(bin("tsc"), ["-p", "agent/web/tsconfig.json"]);
run(bin("tsc"), ["-p", "browser/tsconfig.test.json"]);
run(process.execPath, [path.join(root, "scripts", "rooms.mjs")]);
run(bin("biome"), ["check", "--error-on-warnings", "."]);
run(bin("knip"), []);
run(process.execPath, [path.join(root, "scripts", "rates.mjs")]);
console.log("check: all good");
