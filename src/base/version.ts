import fs from "node:fs";

/** Of this package, as its manifest says. */
export function packageVersion(): string {
	const manifest = JSON.parse(fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
	return manifest.version;
}
