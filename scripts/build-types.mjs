// Put the declarations that an importer of the package can reach into dist/types, from those of all rooms: a third of them.
import fs from "node:fs";
import path from "node:path";
import { root } from "./setup.mjs";

const DIST = path.join(root, "dist");
const TYPES = path.join(DIST, "types");

export function buildTypes() {
	const { exports } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
	const reached = new Set();
	for (const { types } of Object.values(exports)) reach(path.relative("dist/types", types), reached);
	for (const name of fs.existsSync(TYPES) ? fs.readdirSync(TYPES, { recursive: true }) : [])
		if (name.endsWith(".d.ts") && !reached.has(name)) fs.rmSync(path.join(TYPES, name));
	for (const name of reached) {
		const target = path.join(TYPES, name);
		fs.mkdirSync(path.dirname(target), { recursive: true });
		fs.copyFileSync(path.join(DIST, name), target);
	}
}

function reach(name, reached) {
	if (reached.has(name)) return;
	reached.add(name);
	const text = fs.readFileSync(path.join(DIST, name), "utf8");
	for (const [, file] of text.matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)\.js["']/g)) reach(path.join(path.dirname(name), `${file}.d.ts`), reached);
}
