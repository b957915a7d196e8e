// Build the page into dist/web, and the agent's part of it into agent/dist/web, unless they are there already, made from the same files.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

import { root } from "./setup.mjs";

/** By the folder of its sources: where it goes, and what else it is made from. */
const PAGES = {
	web: { out: "dist/web", shared: ["src/screen"], what: "the page" },
	"agent/web": { out: "agent/dist/web", shared: ["agent/src/page/messages.ts", "agent/src/view/messages.ts"], what: "the agent's part of the page" },
};

export async function buildWeb() {
	for (const [folder, { out, shared, what }] of Object.entries(PAGES)) {
		const stamp = path.join(root, out, ".made-from");
		const from = fingerprint([folder, ...shared, "package-lock.json"]);
		if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === from) continue;
		console.error(`building ${what} …`);
		const { build } = await import("vite"); // loaded only now: it takes half a second
		await build({ configFile: path.join(root, folder, "vite.config.ts") });
		fs.writeFileSync(stamp, from);
	}
}

/** Its own files, what it shares with the rest, and the versions of its libraries. */
function fingerprint(sources) {
	const hash = createHash("sha256");
	for (const file of sources.flatMap((source) => [...walk(path.join(root, source))])) {
		hash
			.update(`${path.relative(root, file)}\0`)
			.update(fs.readFileSync(file))
			.update("\0");
	}
	return hash.digest("hex");
}

function* walk(at) {
	if (fs.statSync(at).isFile()) return yield at;
	const names = fs.readdirSync(at).sort();
	for (const name of names) yield* walk(path.join(at, name));
}
