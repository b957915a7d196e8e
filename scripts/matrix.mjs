// npm run matrix: the contract suite at every place, and what it found as the table in docs/places.md.
// npm run matrix -- --only slurm [--only morph] runs the files of those kinds alone: the other columns stay as the table has them.
// npm run matrix REPORT.json… takes reports of earlier runs of vitest (MATRIX=1, --reporter=json) instead, and keeps the other columns too.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt, root } from "./setup.mjs";

const DOC = path.join(root, "docs/places.md");
const [FROM, TO] = ["<!-- matrix -->", "<!-- /matrix -->"];
const NOT_HERE = " | not here: "; // as in test/contract/suite.ts
ensureBuilt();
const { kinds } = await import("../dist/places/kinds.js");
const ORDER = kinds().map(({ forms: [form] }) => form.split(":")[0]); // "ssh, unprivileged" is one of ssh

const { values: options, positionals } = parseArgs({ options: { only: { type: "string", multiple: true } }, allowPositionals: true });
const reports = positionals.length > 0 ? positionals.map(reportIn) : [runSuite(options.only)];
const text = fs.readFileSync(DOC, "utf8");
const [from, to] = [text.indexOf(FROM), text.indexOf(TO)];
if (from < 0 || to < from) throw new Error(`docs/places.md has lost its marks ${FROM} and ${TO}`);
const { places, groups, reasons, problems } = read(
	reports.flatMap(({ testResults }) => testResults),
	options.only || positionals.length > 0 ? earlier(text.slice(from, to)) : [],
);
if (problems.length > 0) {
	console.error(`docs/places.md is left as it is:\n${problems.map((line) => `- ${line}`).join("\n")}`);
	process.exit(1);
}
fs.writeFileSync(DOC, `${text.slice(0, from + FROM.length)}\n${table()}\n${text.slice(to)}`);
console.log(`docs/places.md: ${places.length} places, ${[...groups.values()].reduce((sum, cases) => sum + cases.size, 0)} promises`);

function runSuite(only) {
	const folder = path.join(root, "test/contract");
	const all = fs.readdirSync(folder).filter((name) => name.endsWith(".test.ts") && fs.readFileSync(path.join(folder, name), "utf8").includes("placeSuite("));
	const names = all.map((name) => name.replace(".test.ts", ""));
	const unknown = only?.find((name) => !names.includes(name));
	if (unknown !== undefined) throw new Error(`there is no "${unknown}" in test/contract; there are: ${names.join(", ")}`);
	const files = all.filter((_, at) => only === undefined || only.includes(names[at]));
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

/** Returns the cells of a table that was written before: `{ group, name, place, reason }`, without a reason for "yes". */
function earlier(section) {
	const lines = section.split("\n");
	const cellsOf = (line) =>
		line
			.slice(2, -2)
			.split(/ \| /)
			.map((cell) => cell.replaceAll("\\|", "|").replaceAll("&lt;", "<"));
	const rows = lines.filter((line) => line.startsWith("| ")).map(cellsOf);
	const reason = (number) => lines.find((line) => line.startsWith(`${number}. `))?.slice(`${number}. `.length);
	const [[, ...columns] = [], , ...rest] = rows;
	const cells = [];
	let group;
	for (const [name, ...values] of rest) {
		const [, heading] = /^\*\*(.*)\*\*$/.exec(name) ?? [];
		group = heading ?? group;
		if (heading !== undefined) continue;
		for (const [at, value] of values.entries()) if (value !== "?") cells.push({ group, name, place: columns[at], reason: reason(/\d+/.exec(value)?.[0]) });
	}
	return cells;
}

/** Returns of each place, each group and each case: true, or the number of the reason why not. `before`: what other places had earlier. */
function read(testResults, before) {
	const found = { groups: new Map(), reasons: [], problems: [] };
	const seen = new Set();
	const put = ({ group, name, place, reason }) => {
		const cases = found.groups.get(group) ?? new Map();
		found.groups.set(group, cases);
		const cells = cases.get(name) ?? new Map();
		cases.set(name, cells);
		cells.set(place, reason === undefined ? true : note(found.reasons, reason));
	};
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
			put({ group, name, place, reason });
		}
	}
	const [ran, known] = [new Set(seen), (group, name) => found.groups.get(group)?.has(name)];
	for (const cell of before.filter(({ place, group, name }) => !ran.has(place) && known(group, name))) {
		seen.add(cell.place); // a promise that the suite does not make any more goes
		put(cell);
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
