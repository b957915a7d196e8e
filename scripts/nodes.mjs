// The contract, with each newer Node that we say we run on: `npm run nodes [VERSION …]`. npm brings them; this machine's own is what `npm test` runs with.
import path from "node:path";
import { ensureBuilt, ensureDependencies, root, run } from "./setup.mjs";

const VERSIONS = process.argv.length > 2 ? process.argv.slice(2) : ["22", "24"];
const FILES = ["test/contract/library.test.ts", "test/contract/mcp-stdio.test.ts", "test/crash/crash.test.ts", "test/package/pack.test.ts"];

ensureDependencies();
ensureBuilt();
for (const version of VERSIONS) {
	console.log(`node ${version}: ${FILES.join(" ")}`);
	run("npm", ["exec", "--yes", `--package=node@${version}`, "--", "node", "-e", "console.log(process.version, process.execPath)"]);
	run("npm", ["exec", "--yes", `--package=node@${version}`, "--", "node", path.join(root, "node_modules/vitest/vitest.mjs"), "run", ...FILES]);
}
