// npm run matrix: the contract suite at every place, and what it found as the table in docs/places.md.
// npm run matrix REPORT.json… takes reports of earlier runs of vitest (--reporter=json) instead.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { ensureBuilt, root } from "./setup.mjs";

const DOC = path.join(root, "docs/places.md");
const [FROM, TO] = ["<!-- matrix -->", "<!-- /matrix -->"];
const NOT_HERE = " | not here: "; // as in test/contract/suite.ts
ensureBuilt();
const { kinds } = await import("../dist/places/kinds.js");
const ORDER = kinds().map(({ forms: [form] }) => form.split(":")[0]); // "ssh, unprivileged" is one of ssh

const reports = process.argv.length > 2 ? process.argv.slice(2).map(reportIn) : [runSuite()];
const { places, groups, reasons, problems } = read(reports.flatMap(({ testResults }) => testResults));
if (problems.length > 0) {
	console.error(`docs/places.md is left as it is:\n${problems.map((line) => `- ${line}`).join("\n")}`);
	process.exit(1);
}
const text = fs.readFileSync(DOC, "utf8");
const [from, to] = [text.indexOf(FROM), text.indexOf(TO)];
if (from < 0 || to < from) throw new Error(`docs/places.md has lost its marks ${FROM} and ${TO}`);
fs.writeFileSync(DOC, `${text.slice(0, from + FROM.length)}\n${table()}\n${text.slice(to)}`);
console.log(`docs/places.md: ${places.length} places, ${[...groups.values()].reduce((sum, cases) => sum + cases.size, 0)} promises`);

function runSuite() {
	const folder = path.join(root, "test/contract");
	const files = fs.readdirSync(folder).filter((name) => name.endsWith(".test.ts") && fs.readFileSync(path.join(folder, name), "utf8").includes("placeSuite("));
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-matrix-"));
	try {
		const out = path.join(dir, "report.json");
		const args = ["vitest", "run", ...files.map((name) => `test/contract/${name}`), "--reporter=dot", "--reporter=json", `--outputFile.json=${out}`];
		spawnSync("npx", args, { cwd: root, stdio: "inherit", env: { ...process.env, MATRIX: "1" } }); // every group at every place
		if (!fs.existsSync(out)) throw new Error("vitest has left no report");
		return reportIn(out);
	} finally {
		fs.rmSync(dir, { recursive: true });
	}
}

function reportIn(file) {
	return JSON.parse(fs.readFileSync(file, "utf8"));
}

/** Of each place, each group and each case: true, or the number of the reason why not. */
function read(testResults) {
	const found = { groups: new Map(), reasons: [], problems: [] };
	const seen = new Set();
	for (const { assertionResults } of testResults) {
		for (const { ancestorTitles, title, status } of assertionResults) {
			const [at, , group] = ancestorTitles;
			if (!at?.startsWith("at ")) continue;
			const [place, missing] = at.slice(3).split(NOT_HERE);
			if (missing !== undefined) {
				if (!seen.has(place)) found.problems.push(`${place} cannot be tried here: ${missing}`);
				seen.add(place);
				continue;
			}
			seen.add(place);
			const [name, reason] = title.split(NOT_HERE);
			if (status === "failed") found.problems.push(`${place}: ${group}: ${name}: failed`);
			else if (status !== "passed" && reason === undefined) found.problems.push(`${place}: ${group}: ${name}: ${status}, and nobody says why`);
			const cases = found.groups.get(group) ?? new Map();
			found.groups.set(group, cases);
			const cells = cases.get(name) ?? new Map();
			cases.set(name, cells);
			cells.set(place, reason === undefined ? true : note(found.reasons, reason));
		}
	}
	const rank = (place) => ORDER.indexOf(place.split(",")[0]);
	const all = [...seen].sort((a, b) => rank(a) - rank(b) || a.length - b.length);
	if (all.length === 0) found.problems.push("the report has no place in it");
	return { ...found, places: all };
}

function note(known, reason) {
	if (!known.includes(reason)) known.push(reason);
	return known.indexOf(reason) + 1;
}

function table() {
	const row = (cells) => `| ${cells.join(" | ")} |`;
	const safe = (words) => words.replaceAll("|", "\\|").replaceAll("<", "&lt;");
	const lines = [row(["", ...places]), row(["---", ...places.map(() => "---")])];
	for (const [group, cases] of groups) {
		lines.push(row([`**${safe(group)}**`, ...places.map(() => "")]));
		for (const [name, cells] of cases)
			lines.push(row([safe(name), ...places.map((place) => (cells.get(place) === true ? "yes" : cells.has(place) ? `no (${cells.get(place)})` : "?"))]));
	}
	return ["", ...lines, "", ...reasons.map((reason, index) => `${index + 1}. ${reason}`), ...(reasons.length > 0 ? [""] : [])].join("\n");
}
