/** Files to another machine and back: one large, and many small ones, beside scp over the same connection and `docker cp`. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ran, remotePlaces } from "./far.mjs";
import { median, timed } from "./lib.mjs";
import { missingRow, row } from "./report.mjs";

const MIB = 2 ** 20;

export default async function files(bench) {
	const large = bench.count(100, 10);
	const count = bench.count(5_000, 300);
	const dir = bench.dir("source");
	process.chdir(bench.root); // nothing outside of where a runtime was started goes anywhere
	const sources = {
		[`${large} MiB`]: path.join(dir, "large"),
		[`${count.toLocaleString("en-US")} files of 1 KB`]: path.join(dir, "small"),
	};
	const [one, many] = Object.values(sources);
	fs.writeFileSync(one, "");
	for (let i = 0; i < large; i++) fs.appendFileSync(one, randomBytes(MIB));
	for (let i = 0; i < count; i++) {
		const into = path.join(many, String(i % 50));
		fs.mkdirSync(into, { recursive: true });
		fs.writeFileSync(path.join(into, `file ${i}`), randomBytes(1024));
	}
	const rows = [];
	for (const place of await remotePlaces(bench, "files", ["ssh", "docker"])) {
		if (place.missing) rows.push(missingRow(place.name, place.missing));
		else for (const [what, source] of Object.entries(sources)) rows.push(...(await both(bench, place, what, source)));
	}
	return rows;
}

/** There and back, by turns; what comes back is compared with what was sent. */
async function both(bench, place, what, source) {
	const { name, runtime, there, copyIn, copyOut } = place;
	const base = name === "ssh" ? bench.dir("there") : "/root"; // in the container /tmp is a small one in memory, which docker cp does not see
	const times = { up: [], down: [], otherUp: [], otherDown: [] };
	for (let round = 0; round < bench.count(3, 1); round++) {
		const at = (who) => `${base}/${who}-${path.basename(source)}-${round}`;
		const back = (who) => path.join(bench.dir("back"), `${name}-${who}-${path.basename(source)}-${round}`);
		times.up.push(await timed(() => done(runtime.upload({ source, target: at("ours") }))));
		times.otherUp.push(await timed(() => ran(copyIn(source, at("other")))));
		times.down.push(await timed(() => done(runtime.download({ source: at("ours"), target: back("ours") }))));
		times.otherDown.push(await timed(() => ran(copyOut(at("other"), back("other")))));
		for (const who of ["ours", "other"]) {
			execFileSync("diff", ["-rq", source, back(who)]);
			fs.rmSync(back(who), { recursive: true });
		}
		await ran(there(`rm -rf ${base}/*-${path.basename(source)}-${round}`));
	}
	const other = name === "ssh" ? "scp -r" : "docker cp";
	const result = (verb, ours, theirs) =>
		row({ what: `${name}: ${verb} ${what}`, value: median(times[ours]), unit: "ms", baselines: [{ name: other, value: median(times[theirs]) }] });
	return [result("upload of", "up", "otherUp"), result("download of", "down", "otherDown")];
}

async function done(copying) {
	const result = await copying;
	if (result.error) throw new Error(JSON.stringify(result));
}
