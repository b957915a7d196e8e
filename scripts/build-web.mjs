// Build the page into dist/web, unless it is there already, made from the same files.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

import { root } from "./setup.mjs";

const STAMP = path.join(root, "dist/web/.made-from");

export async function buildWeb() {
	const from = fingerprint();
	if (fs.existsSync(STAMP) && fs.readFileSync(STAMP, "utf8") === from) return;
	const { build } = await import("vite"); // loaded only now: it takes half a second
	await build({ configFile: path.join(root, "web/vite.config.ts") });
	fs.writeFileSync(STAMP, from);
}

/** The page's own files, what it shares with the rest, and the versions of its libraries. */
function fingerprint() {
	const hash = createHash("sha256");
	for (const file of [...walk(path.join(root, "web")), ...walk(path.join(root, "src/screen")), path.join(root, "package-lock.json")]) {
		hash
			.update(`${path.relative(root, file)}\0`)
			.update(fs.readFileSync(file))
			.update("\0");
	}
	return hash.digest("hex");
}

function* walk(dir) {
	for (const entry of fs.readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
		const file = path.join(dir, entry.name);
		if (entry.isDirectory()) yield* walk(file);
		else if (entry.isFile()) yield file;
	}
}
