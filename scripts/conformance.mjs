// The MCP conformance suite against our HTTP door with a fixture server behind it: `npm run conformance`.
// Not part of `npm test`: it takes a minute, and it fetches the suite, and the Node it needs, from the registry.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { ensureBuilt, ensureDependencies, root } from "./setup.mjs";

/** The release, and the one to come: only that knows the newer protocol. */
const RUNS = [
	{ suite: "0.1.16", wire: "2025-11-25", args: ["--suite", "all"] },
	{ suite: "0.2.0-alpha.12", wire: "2025-11-25", args: ["--requirements", "2025-11-25"] },
	{ suite: "0.2.0-alpha.12", wire: "2026-07-28", args: ["--requirements", "2026-07-28"] },
];

ensureDependencies();
ensureBuilt();
const notForUs = JSON.parse(fs.readFileSync(path.join(root, "scripts/conformance.json"), "utf8"));
const fixture = spawn(process.execPath, [path.join(root, "test/fixtures/conformance-server.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
const work = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-conformance-"));
let failed = 0;
try {
	const [url] = String(await once(fixture.stdout, "data")).split("\n");
	for (const run of RUNS) failed += report(run, results(run, url));
} finally {
	fixture.kill();
	fs.rmSync(work, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);

/** Scenario, how many checks passed and how many did not: what the suite's own summary says. */
function results({ suite, args }, url) {
	const packages = ["-p", `node-linux-${process.arch}@24`, "-p", `@modelcontextprotocol/conformance@${suite}`];
	const { stdout, stderr } = spawnSync("npx", ["-y", ...packages, "conformance", "server", "--url", url, ...args], { cwd: work, encoding: "utf8" });
	const lines = stdout.slice(stdout.indexOf("=== SUMMARY ===")).matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
	const found = [...lines].map(([, name, good, bad]) => ({ name, good: Number(good), bad: Number(bad) }));
	if (found.length === 0) throw new Error(`the suite did not run:\n${stderr}`);
	return found;
}

/** Print it; how many scenarios failed that should not have, or passed that are listed as not for us. */
function report({ suite, wire }, scenarios) {
	console.log(`\nconformance ${suite}, protocol ${wire}\n`);
	let wrong = 0;
	for (const { name, good, bad } of scenarios) {
		const reason = notForUs[wire]?.[name];
		const fine = reason === undefined ? bad === 0 : bad > 0;
		if (!fine) wrong++;
		const verdict = bad === 0 ? "pass" : reason === undefined ? "FAIL" : "not for us";
		const remark = !fine && reason !== undefined ? "passes: take it off scripts/conformance.json" : (reason ?? "");
		console.log(`  ${verdict.padEnd(10)} ${name.padEnd(48)} ${String(good).padStart(3)} passed ${String(bad).padStart(3)} failed  ${remark}`.trimEnd());
	}
	const count = (test) => scenarios.filter(test).length;
	console.log(
		`\n  ${count(({ bad }) => bad === 0)} of ${scenarios.length} scenarios pass; ${count(({ bad, name }) => bad > 0 && notForUs[wire]?.[name])} are not for us`,
	);
	return wrong;
}
