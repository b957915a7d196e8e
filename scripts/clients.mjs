// npm run clients [CLIENT …] [SCENARIO …]: real MCP clients with Holdfast and a model that follows a script, and what came of it as a table.
// Not part of `npm test`: it takes a quarter of an hour, and installs the clients (1.3 GB) from the npm registry into a temporary
// directory, or takes them from CLIENTS_DIR. The clients reach loopback only. LOG=FILE keeps what the models got.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { CLIENTS, PACKAGES } from "./clients/launch.mjs";
import { startModel } from "./clients/model.mjs";
import { SCENARIOS } from "./clients/scenarios.mjs";
import { clear, stage } from "./clients/stage.mjs";
import { ensureBuilt, ensureDependencies } from "./setup.mjs";

const chosen = (all) => {
	const named = all.filter(({ id }) => process.argv.slice(2).includes(id));
	return named.length > 0 ? named : all;
};
const [clients, scenarios] = [chosen(CLIENTS), chosen(SCENARIOS)];
const unknown = process.argv.slice(2).filter((word) => ![...CLIENTS, ...SCENARIOS].some(({ id }) => id === word));
if (unknown.length > 0) {
	console.error(`unknown: ${unknown.join(", ")}; there are ${[...CLIENTS, ...SCENARIOS].map(({ id }) => id).join(", ")}`);
	process.exit(2);
}

ensureDependencies();
ensureBuilt();
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-clients-"));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => clear(scratch).then(() => process.exit(130)));
const cells = new Map();
let failed = 0;
try {
	const installed = process.env.CLIENTS_DIR ?? install();
	const programs = path.join(installed, "node_modules/.bin");
	const { countTokens } = createRequire(path.join(installed, "package.json"))("gpt-tokenizer/encoding/o200k_base");
	for (const client of clients) {
		const version = spawnSync(path.join(programs, client.program), ["--version"], { encoding: "utf8", env: { ...process.env, HOME: scratch } });
		console.log(`\n${client.name} ${/\d[\d.]+/.exec(version.stdout)?.[0] ?? version.stderr}\n`);
		const model = await startModel();
		const own = stage(client, { model, programs, scratch });
		try {
			for (const scenario of scenarios) {
				const { good, says } = await played(scenario, own, { client, tokens: countTokens });
				if (!good) failed++;
				cells.set(`${client.id} ${scenario.id}`, says);
				console.log(`  ${good ? "    " : "FAIL"} ${scenario.title.padEnd(76)} ${says}`);
				if (process.env.LOG)
					fs.appendFileSync(
						process.env.LOG,
						`${JSON.stringify({ client: client.id, scenario: scenario.id, says, requests: model.requests, others: model.others })}\n`,
					);
				await own.clear();
			}
		} finally {
			model.close();
		}
	}
} finally {
	await clear(scratch);
}
const row = (words) => `| ${words.join(" | ")} |`;
console.log(`\n${row(["", ...clients.map(({ name }) => name)])}\n${row(["---", ...clients.map(() => "---")])}`);
for (const { id, title } of scenarios) console.log(row([title, ...clients.map((client) => cells.get(`${client.id} ${id}`))]));
process.exit(failed === 0 ? 0 : 1);

async function played(scenario, own, context) {
	try {
		return await scenario.run(own, context);
	} catch (error) {
		return { good: false, says: `FAILED: ${error.message}` };
	}
}

function install() {
	const dir = path.join(scratch, "installed");
	fs.mkdirSync(dir);
	fs.writeFileSync(path.join(dir, "package.json"), "{}");
	console.error(`installing ${PACKAGES.join(", ")} …`);
	const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...PACKAGES], { cwd: dir, stdio: ["ignore", 2, 2] });
	if (status !== 0) throw new Error("the clients could not be installed");
	return dir;
}
