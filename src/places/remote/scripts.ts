/** Installs our own scripts on a remote machine. Their directory is named by a digest of their content, so a running keeper never sees another version. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import { asset, shellQuote } from "../../base/index.js";

const FILES = ["keeper/keeper.sh", "keeper/pty.pl", "keeper/pty.py", "shell/rc.bash", "shell/rescue.bash"];

let known: { readonly name: string; readonly files: ReadonlyMap<string, string> } | undefined;

export function ownScripts(): NonNullable<typeof known> {
	if (known) return known;
	const files = new Map(FILES.map((name) => [name, fs.readFileSync(asset(name), "utf8")]));
	const hash = createHash("sha256");
	for (const [name, text] of files) hash.update(`${name}\0${text}\0`);
	known = { name: hash.digest("hex").slice(0, 16), files };
	return known;
}

/** Returns shell text that installs them into a directory unless they exist: made beside it and moved there whole. */
export function installScript(directory: string): string {
	const { files } = ownScripts();
	const writes = [...files].map(([name, text]) => `printf %s ${shellQuote(text)} >"$new"/${name}`);
	return [
		`at=${shellQuote(directory)} new=${shellQuote(directory)}.$$`,
		'[ -d "$at" ] && exit 0',
		'umask 077; mkdir -p "$new/keeper" "$new/shell" || exit 1',
		`{ ${writes.join(" && ")}; } || exit 1`,
		'mv "$new" "$at" 2>/dev/null || { rm -rf "$new"; [ -d "$at" ]; }',
	].join("\n");
}
