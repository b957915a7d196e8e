import fs from "node:fs";
import { asset } from "./asset.js";

/** Of this package, as its manifest says. */
export function packageVersion(): string {
	const manifest = JSON.parse(fs.readFileSync(asset("../package.json"), "utf8")) as { version: string };
	return manifest.version;
}
