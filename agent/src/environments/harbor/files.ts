/** Directories and files of a task in its place, and whom they belong to. */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { EpisodeError, quoted, type Setting, type ToolContext } from "../../episode/index.js";
import type { Layout } from "./where.js";

/** Runs a command that has to work. */
export async function must(cx: ToolContext, command: string, what: string): Promise<string> {
	const { exit_code, text } = await cx.run(command, { timeout: 120 });
	if (exit_code !== 0) throw new EpisodeError("environment", "setup", `${what} failed (exit code ${exit_code}): ${text().slice(-1_000)}`, { again: true });
	return text();
}

/** The users of a place, and its directory. */
export interface Inhabitants {
	/** `uid:gid` of the agent. */
	readonly agent: string;
	/** `uid:gid` of the episode's own hands. */
	readonly hands: string;
	/** The agent may become root without a password. */
	readonly sudo: boolean;
	readonly workdir: string;
}

/** `uid:gid` of a user of the place; null: the container's. */
export async function idsOf(cx: ToolContext, user: string | null): Promise<string> {
	const { text } = await cx.run('echo "$(id -u):$(id -g)"', { user });
	if (/^\d+:\d+$/.test(text().trim())) return text().trim();
	throw new EpisodeError("environment", "setup", `the place does not say who ${user ?? "its user"} is there: ${text().slice(0, 500)}`);
}

export async function inhabitantsOf(cx: ToolContext, setting: Setting): Promise<Inhabitants> {
	const looked = (
		await cx.run('echo "$(id -u):$(id -g)"; if sudo -n true 2>/dev/null; then echo yes; else echo no; fi; pwd', { user: setting.user ?? null })
	).text();
	const [agent = "", sudo = "", workdir = ""] = looked.split("\n");
	if (!/^\d+:\d+$/.test(agent) || !workdir.startsWith("/"))
		throw new EpisodeError("environment", "setup", `the place does not say who the agent is there: ${looked.slice(0, 500)}`);
	const hands = setting.hands === undefined ? agent : setting.hands === "root" ? "0:0" : await idsOf(cx, setting.hands);
	return { agent, hands, sudo: sudo === "yes", workdir };
}

/** The directories for logs, there from the start and open to all. */
export async function makeLogs(cx: ToolContext, { logs }: Layout): Promise<void> {
	const dirs = ["agent", "verifier", "artifacts"].map((name) => quoted(`${logs}/${name}`)).join(" ");
	await must(cx, `mkdir -p ${dirs} && chmod 777 ${dirs}`, "making the directories for logs");
}

/**
 * Makes directories anew, for one user alone, whatever is planted there. They are moved away before they are removed: what writes into them all the time would
 * keep them from ever being empty, and has no name for them then.
 */
export function emptyFor(cx: ToolContext, dirs: readonly string[], owner: string): Promise<string> {
	const away = `.holdfast-${randomBytes(8).toString("hex")}`;
	const one = (dir: string): string => `empty ${quoted(path.posix.dirname(dir))} ${quoted(dir)}`;
	return must(cx, `${EMPTY.replaceAll("AWAY", away).replaceAll("OWNER", owner)}${dirs.map(one).join(" && ")}`, `emptying ${dirs.join(" and ")}`);
}

const EMPTY = `empty() {
	mkdir -p "$1" || return
	for round in 1 2 3 4 5; do
		old="$2AWAY.$round"
		if [ -e "$2" ] || [ -L "$2" ]; then
			mv "$2" "$old" || return
			[ -L "$old" ] || chmod 700 "$old"
			rm -rf "$old" 2>/dev/null || rm -rf "$old" 2>/dev/null || true
		fi
		mkdir -m 700 "$2" && chown OWNER "$2" && return
	done
	return 1
}
`;

/** Copies what is in a folder of this machine into a directory of the place, as files of a user. */
export async function putFolder(cx: ToolContext, folder: string, dir: string, owner: string, program?: string): Promise<void> {
	const between = `/tmp/.holdfast-${randomBytes(8).toString("hex")}`;
	await cx.upload(folder, between);
	// `cp -a` has given the directory the permissions of ours. A step's tests may leave the program to those of the task.
	const executable = program === undefined ? "" : ` && chmod 700 ${quoted(dir)} && { chmod +x ${quoted(`${dir}/${program}`)} || true; }`;
	await must(
		cx,
		`chown -R ${owner} ${between} && mkdir -p ${quoted(dir)} && cp -a ${between}/. ${quoted(dir)}/ && rm -rf ${between}${executable}`,
		`putting files into ${dir}`,
	);
}
