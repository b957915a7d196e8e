// A room imports only from rooms above it in this list; so the folders can be read from top to bottom.
import fs from "node:fs";
import path from "node:path";
import { root } from "./setup.mjs";

const ROOMS = ["base", "audit", "keeper", "places", "process", "shell", "screen", "recording", "policy", "sudo", "approvals", "notices", "tools", "doors"];

const src = path.join(root, "src");
const roomOf = (file) => path.relative(src, file).split(path.sep)[0];
const problems = [];

for (const file of walk(src)) {
	const room = roomOf(file);
	if (room === "index.ts") continue; // the front of the house looks into every room
	if (!ROOMS.includes(room)) problems.push(`${path.relative(root, file)}: there is no room "${room}"; add it to scripts/rooms.mjs, in its place`);
	for (const [, target] of fs.readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g)) {
		const other = roomOf(path.resolve(path.dirname(file), target));
		if (ROOMS.indexOf(other) > ROOMS.indexOf(room) || other === "index.js")
			problems.push(`${path.relative(root, file)}: ${room} must not import from ${other}`);
	}
}
if (problems.length > 0) {
	console.error(problems.join("\n"));
	process.exit(1);
}

function* walk(dir) {
	for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
		const file = path.join(dir, entry.name);
		if (entry.isDirectory()) yield* walk(file);
		else if (entry.name.endsWith(".ts")) yield file;
	}
}
