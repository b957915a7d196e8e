// Write package-lock.json anew, whole. npm leaves out optional packages of other platforms that the registry it talks to does not have,
// and then `npm ci` refuses the file. Their versions are exact in the manifests of those that want them, so they can be added without being fetched;
// npm takes such an entry without a checksum, and only on its own platform.
import fs from "node:fs";
import path from "node:path";
import { root, run } from "./setup.mjs";

const file = path.join(root, "package-lock.json");
run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"]);
const lock = JSON.parse(fs.readFileSync(file, "utf8"));
const added = [];
for (const [where, entry] of Object.entries(lock.packages)) {
	for (const [name, version] of Object.entries(where === "" ? {} : (entry.optionalDependencies ?? {}))) {
		if (`node_modules/${name}` in lock.packages || `${where}/node_modules/${name}` in lock.packages) continue;
		if (!/^\d+\.\d+\.\d+(-\S+)?$/.test(version)) throw new Error(`${where} wants ${name}@${version}: not one version`);
		lock.packages[`node_modules/${name}`] = { version, ...(entry.dev ? { dev: true } : {}), optional: true, ...platformOf(name) };
		added.push(name);
	}
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
fs.writeFileSync(file, `${JSON.stringify(lock, null, "\t")}\n`);
console.log(
	`package-lock.json: ${Object.keys(lock.packages).length} packages, ${added.length} of other platforms added${added.map((name) => `\n  ${name}`).join("")}`,
);

/** As such packages are named: `@biomejs/cli-linux-arm64-musl`, `@oxc-parser/binding-win32-x64-msvc`. */
function platformOf(name) {
	const os = /-(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)\b/.exec(name)?.[1];
	const cpu = /-(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64|wasm32)\b/.exec(name)?.[1];
	const libc = { musl: "musl", gnu: "glibc" }[/-(musl|gnu)(?:eabihf)?$/.exec(name)?.[1]];
	if (cpu === undefined) throw new Error(`${name}: for which platform?`);
	return { cpu: [cpu], ...(os ? { os: [os] } : {}), ...(libc ? { libc: [libc] } : {}) };
}
