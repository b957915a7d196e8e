// Bundle what is shipped: the command line into dist/bin, the exports of the library into dist/lib. A program that loads three hundred
// small files spends most of its start on opening them. Each lazily loaded part stays a chunk of its own; what short commands share is in a few.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { root } from "./setup.mjs";

const STAMP = path.join(root, "dist/.bundled-from");

const commands = (...names) => names.map((name) => `doors/cli/commands/${name}.js`);

const BUNDLES = {
	bin: {
		input: { holdfast: "doors/cli/entry.js", main: "doors/cli/main.js" },
		format: "cjs", // doors/cli/chunks.ts keeps what V8 has compiled of them, which Node can do of scripts and not of modules
		external: ["modal"], // installed beside the package by whoever uses it
		// What these need at once, beyond the layers before, is one chunk: each file that Node loads takes as long as a few thousand lines.
		layers: {
			start: ["doors/cli/main.js"],
			core: ["doors/cli/open.js", ...commands("ps", "logs")],
			more: commands("run", "end", "prune", "kill", "wait", "status", "attach", "shell", "doctor"),
			shell: ["shell/index.js"],
			agent: ["tools/index.js", ...commands("terminal")],
		},
		// Without white space V8 reads a third less. Names stay, for stack traces.
		minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
	},
	lib: {
		input: {
			index: "index.js",
			policy: "api/policy.js",
			screen: "api/screen.js",
			mcp: "doors/mcp/library.js",
			http: "doors/http/library.js",
			testing: "api/testing.js",
			probes: "places/local/probes.js", // run as a program of its own: places/local/inside.ts
		},
		external: [/^zod(?:\/|$)/, "modal"], // a program shares it, for the schemas of `defineTool`
	},
};

/** Of these Node loads another file than a bundler would, and `screen/harden.ts` is about that one. */
const AS_NODE = Object.fromEntries(["@xterm/headless", "@xterm/addon-serialize"].map((name) => [name, createRequire(import.meta.url).resolve(name)]));

export async function buildBundles() {
	const from = fingerprint();
	if (fs.existsSync(STAMP) && fs.readFileSync(STAMP, "utf8") === from) return;
	console.error("bundling the command line and the library …");
	const { build } = await import("vite"); // loaded only now: it takes half a second
	const packages = new Set(["web-tree-sitter", "tree-sitter-bash", "preact", "@preact/signals", "@preact/signals-core", "@xterm/xterm"]); // copied by build.mjs; of the page
	for (const [name, bundle] of Object.entries(BUNDLES)) for (const one of await bundleInto(build, path.join(root, "dist", name), bundle)) packages.add(one);
	fs.writeFileSync(path.join(root, "dist/third-party-licenses.txt"), [...packages].sort().map(licenseOf).join("\n\n"));
	fs.chmodSync(path.join(root, "dist/bin/holdfast.js"), 0o755);
	fs.writeFileSync(path.join(root, "dist/bin/package.json"), '{ "type": "commonjs" }\n');
	fs.writeFileSync(STAMP, from);
}

async function bundleInto(build, outDir, bundle) {
	const groups = bundle.layers ? groupsOf(bundle.layers, await bundled(build, outDir, bundle, { write: false })) : [];
	const output = await bundled(build, outDir, bundle, { groups });
	const parts = output.map(({ fileName, moduleIds = [] }) => [fileName, moduleIds.map((id) => path.relative(root, id))]);
	fs.writeFileSync(path.join(outDir, ".parts.json"), JSON.stringify(Object.fromEntries(parts))); // for test/cli/loading.test.ts
	return parts.flatMap(([, files]) => files.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));
}

/** The terms that a package in the bundles comes with. */
function licenseOf(name) {
	const dir = path.join(root, "node_modules", name);
	const file = fs.readdirSync(dir).find((entry) => /^licen[sc]e/i.test(entry));
	const { license } = JSON.parse(fs.readFileSync(path.join(dir, "package.json"), "utf8"));
	if (file === undefined && !name.startsWith("@xterm/")) throw new Error(`${name} comes without its terms`);
	return `${name} (${license})\n\n${file === undefined ? "As @xterm/xterm." : fs.readFileSync(path.join(dir, file), "utf8").trim()}\n`;
}

/** Which modules are in which layer, by the chunks that come out without layers. A command is always a chunk of its own, and so is the program: it waits for others. */
function groupsOf(layers, chunks) {
	const taken = new Set(["entry", "chunks", "main"].map((name) => path.join(root, `dist/doors/cli/${name}.js`)));
	return Object.entries(layers).map(([name, files]) => {
		const found = new Set();
		const reach = (chunk) => {
			if (!chunk || found.has(chunk)) return;
			found.add(chunk);
			for (const file of chunk.imports) reach(chunks.find(({ fileName }) => fileName === file));
		};
		for (const file of files) reach(chunks.find(({ moduleIds = [] }) => moduleIds.includes(path.join(root, "dist", file))));
		const modules = [...found].flatMap(({ moduleIds }) => moduleIds);
		const own = new Set(modules.filter((id) => !taken.has(id) && !/\/dist\/doors\/cli\/commands\/(?!index)/.test(id)));
		for (const id of own) taken.add(id);
		return { name, test: (id) => own.has(id) };
	});
}

async function bundled(build, outDir, { input, external, format = "es", minify = false }, { write = true, groups = [] }) {
	const { output } = await build({
		configFile: false,
		root,
		logLevel: "warn",
		publicDir: false,
		plugins: format === "cjs" ? [importModules] : [],
		resolve: { alias: AS_NODE },
		ssr: { noExternal: true, target: "node" }, // an install brings no packages that are loaded file by file
		build: {
			ssr: true,
			target: "node20",
			outDir,
			write,
			emptyOutDir: true,
			minify: false, // as `minify` below says
			rollupOptions: {
				external,
				// Modules of ours do nothing when they are loaded: of a room, only what is used of its index.ts gets into a chunk.
				treeshake: { moduleSideEffects: (id) => !id.startsWith(path.join(root, "dist/")) },
				input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, path.join(root, "dist", file)])),
				output: { format, entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", minify, codeSplitting: { groups } },
			},
		},
	});
	return output;
}

/** `import(…)` of what is not in the bundle, in chunks that are loaded as scripts: by a function that doors/cli/chunks.ts gives them. */
const importModules = {
	name: "import-modules",
	renderChunk(code, chunk) {
		if (chunk.name === "holdfast") return null; // the entry, which Node loads
		const at = [];
		const look = (node) => {
			if (node === null || typeof node !== "object") return;
			if (node.type === "ImportExpression") at.push(node.start);
			for (const part of Object.values(node)) look(part);
		};
		look(this.parse(code));
		return at.sort((a, b) => b - a).reduce((text, start) => `${text.slice(0, start)}importModule${text.slice(start + "import".length)}`, code);
	},
};

/** Of everything that tsc has written, of this file, and of the versions of the libraries. */
function fingerprint() {
	const hash = createHash("sha256");
	const files = fs
		.readdirSync(path.join(root, "dist"), { recursive: true })
		.filter((name) => name.endsWith(".js") && !/^(bin|lib|web)\//.test(name))
		.sort();
	for (const file of ["../package-lock.json", "../scripts/build-bundles.mjs", ...files])
		hash.update(`${file}\0`).update(fs.readFileSync(path.join(root, "dist", file)));
	return hash.digest("hex");
}
