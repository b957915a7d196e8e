import fs from "node:fs";
import { asset } from "./asset.js";

/** Returns the version of this package, from its manifest. */
export function packageVersion(): string {
	const manifest = JSON.parse(fs.readFileSync(asset("../package.json"), "utf8")) as { version: string };
	return manifest.version;
}
