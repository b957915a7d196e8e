/**
 * The service definitions of the installed library of Modal, so that the double speaks exactly what the library speaks. The package does not
 * export them: a copy of it with two exports of our own is loaded from a directory of the tests.
 */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { tempDir } from "./home.js";

interface Service {
	readonly methods: Readonly<Record<string, { readonly responseStream: boolean }>>;
}

let loaded: { readonly control: Service; readonly router: Service } | undefined;

export function modalDefinitions(): NonNullable<typeof loaded> {
	if (loaded) return loaded;
	const original = createRequire(import.meta.url).resolve("modal");
	const dir = tempDir("modal");
	const modules = "/node_modules";
	fs.symlinkSync(original.slice(0, original.lastIndexOf(`${modules}/`) + modules.length), path.join(dir, "node_modules"));
	const text = fs.readFileSync(original.replace(/index\.js$/, "index.cjs"), "utf8");
	const copy = path.join(dir, "copy.cjs");
	fs.writeFileSync(copy, `${text}\nmodule.exports = { control: ModalClientDefinition, router: TaskCommandRouterDefinition };\n`);
	loaded = createRequire(copy)(copy) as NonNullable<typeof loaded>;
	return loaded;
}
