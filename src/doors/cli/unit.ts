/** `holdfast serve` as a service of systemd's user manager: installs and removes the unit file. systemctl itself is left to the person. */
import fs from "node:fs";
import path from "node:path";
import { configDir, ensureDir, findProgram, HoldfastError, ownPath, readIfThere, unlinkIfThere, writeWhole } from "../../base/index.js";

const MARK = "# Written by `holdfast serve --install`; `holdfast serve --uninstall` removes it.";
export const UNIT = "holdfast.service";

/** Returns the text of the unit. `words` are the arguments behind `serve`. */
export function unitText(words: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
	const variables = ["XDG_CONFIG_HOME", "PATH"].flatMap((name) => (env[name] ? [`Environment=${quoted(`${name}=${env[name]}`)}`] : []));
	return `${MARK}
[Unit]
Description=Holdfast: the page, the API and MCP

[Service]
ExecStart=${[...ownPath(), "serve", "--resume", ...words].map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}
${variables.join("\n")}
# Only the server is stopped: what it keeps runs on, and so do the keepers.
KillMode=process
Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
`;
}

/** Installs the unit file. Returns its path, and whether that changed anything. Throws UNSUPPORTED without systemd, INVALID if another unit has the name. */
export function installUnit(text: string, env: NodeJS.ProcessEnv = process.env): { file: string; changed: boolean } {
	if (findProgram("systemctl", env) === undefined)
		throw new HoldfastError("UNSUPPORTED", "this machine has no systemd (no `systemctl` was found); start `holdfast serve` by whatever starts services here");
	const file = unitFile(env);
	const before = readIfThere(file);
	mustBeOurs(file, before);
	ensureDir(path.dirname(file));
	if (before !== text) writeWhole(file, text);
	return { file, changed: before !== text };
}

/** Takes it away, with the link by which it was enabled. Returns where it was; undefined if there was none. */
export function uninstallUnit(env: NodeJS.ProcessEnv = process.env): string | undefined {
	const file = unitFile(env);
	const before = readIfThere(file);
	if (before === undefined) return undefined;
	mustBeOurs(file, before);
	const enabled = path.join(path.dirname(file), "default.target.wants", UNIT);
	if (fs.lstatSync(enabled, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkIfThere(enabled);
	unlinkIfThere(file);
	return file;
}

const unitFile = (env: NodeJS.ProcessEnv): string => path.join(path.dirname(configDir(env)), "systemd", "user", UNIT);

function mustBeOurs(file: string, text: string | undefined): void {
	if (text !== undefined && !text.startsWith(MARK))
		throw new HoldfastError("INVALID", `${file} was not written by \`holdfast serve --install\`; move it away first`);
}

/** Quotes a word as systemd.syntax(7) has it, without specifiers. In a command line a dollar sign is doubled besides. */
function quoted(word: string): string {
	if (/[\0\r\n]/.test(word)) throw new HoldfastError("INVALID", "an argument with a line break cannot be put into a unit");
	return `"${word.replaceAll(/[\\"]/g, "\\$&").replaceAll("%", "%%")}"`;
}
