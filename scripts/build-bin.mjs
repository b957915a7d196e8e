// Bundle the command line into dist/bin: a program that loads three hundred small files spends most of its start on opening them.
// The library stays as tsc writes it. Each lazily loaded part of the command line is a chunk of its own.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { root } from "./setup.mjs";

const OUT = path.join(root, "dist/bin");
const STAMP = path.join(OUT, ".made-from");
/** Not bundled: dockerode for its size, the others because they load files of their own from where they are installed. */
const EXTERNAL = ["dockerode", "web-tree-sitter", "@xterm/headless", "@xterm/addon-serialize"];

export async function buildBin() {
	const from = fingerprint();
	if (fs.existsSync(STAMP) && fs.readFileSync(STAMP, "utf8") === from) return;
	const { build } = await import("vite"); // loaded only now: it takes half a second
	const { output } = await build({
		configFile: false,
		root,
		logLevel: "warn",
		publicDir: false,
		ssr: { noExternal: true, external: EXTERNAL, target: "node" },
		build: {
			ssr: true,
			target: "node20",
			outDir: OUT,
			emptyOutDir: true,
			minify: false, // a stack trace can be read
			rollupOptions: {
				input: { holdfast: path.join(root, "dist/doors/cli/main.js") },
				output: { format: "es", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
			},
		},
	});
	const parts = output.map(({ fileName, moduleIds = [] }) => [fileName, moduleIds.map((id) => path.relative(root, id))]);
	fs.writeFileSync(path.join(OUT, ".parts.json"), JSON.stringify(Object.fromEntries(parts))); // for test/cli/loading.test.ts
	fs.chmodSync(path.join(OUT, "holdfast.js"), 0o755);
	fs.writeFileSync(STAMP, from);
}

/** Of everything that tsc has written, and of the versions of the libraries. */
function fingerprint() {
	const hash = createHash("sha256");
	const files = fs
		.readdirSync(path.join(root, "dist"), { recursive: true })
		.filter((name) => name.endsWith(".js") && !/^(bin|web)\//.test(name))
		.sort();
	for (const file of ["../package-lock.json", ...files]) hash.update(`${file}\0`).update(fs.readFileSync(path.join(root, "dist", file)));
	return hash.digest("hex");
}
