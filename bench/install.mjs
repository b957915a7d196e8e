/** Packages that a measurement compares with, from the registry into the temporary directory of the run. None is a dependency of the project. */
import { execFile } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

const INSTALL_MS = 120_000;
const env = { ...process.env }; // with the HOME of whoever runs this: npm has its settings there

/** `{ dir, load }`, where `load` is a `require` from there; or `{ missing }`. `scripts`: they compile something, so their install scripts run. */
export async function install(bench, name, packages, { scripts = false } = {}) {
	if (bench.quick) return { missing: "--quick does not install it" };
	const dir = bench.dir(name);
	const manifest = path.join(dir, "package.json");
	fs.writeFileSync(manifest, '{ "private": true }\n');
	const args = ["install", "--ignore-scripts=false", "--no-audit", "--no-fund", ...(scripts ? [] : ["--ignore-scripts"]), ...packages];
	try {
		await promisify(execFile)("npm", args, { cwd: dir, env, timeout: INSTALL_MS });
		return { dir, load: createRequire(manifest) };
	} catch (error) {
		return { missing: String(error.message).split("\n")[0].slice(0, 120) };
	}
}
