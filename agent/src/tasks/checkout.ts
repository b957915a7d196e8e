/** Tasks from a git repository: a clone of one commit, without its hooks and submodules. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { AgentError, ensureDir } from "../base/index.js";

const GIT = /^(?:https?:\/\/\S+|ssh:\/\/\S+|file:\/\/\S+|git@[^\s:]+:\S+)$/;

export const isRepository = (from: string): boolean => GIT.test(from);

/** Clones `URL` or `URL#REF`, and returns the folder with its tasks: `tasks` in it, or all of it. A clone of the same commit is used again. */
export function checkedOut(from: string, cache: string): string {
	const [url = "", ref] = from.split("#", 2);
	ensureDir(cache);
	const fresh = fs.mkdtempSync(path.join(cache, "cloning-"));
	try {
		git(["clone", "--quiet", "--depth", "1", ...(ref === undefined || ref === "" ? [] : ["--branch", ref]), "--", url, fresh], url);
		const commit = git(["-C", fresh, "rev-parse", "HEAD"], url).trim();
		const folder = path.join(cache, createHash("sha256").update(`${url} ${commit}`).digest("hex").slice(0, 32));
		if (!fs.existsSync(folder)) fs.renameSync(fresh, folder);
		return fs.lstatSync(path.join(folder, "tasks"), { throwIfNoEntry: false })?.isDirectory() ? path.join(folder, "tasks") : folder;
	} finally {
		fs.rmSync(fresh, { recursive: true, force: true });
	}
}

function git(args: readonly string[], url: string): string {
	const safe = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "submodule.recurse=false"];
	const { status, stdout, stderr, error } = spawnSync("git", [...safe, ...args], { encoding: "utf8", env: { ...process.env, GIT_TERMINAL_PROMPT: "0" } });
	if (status === 0) return stdout;
	throw new AgentError("NOT_FOUND", `${url} cannot be cloned: ${error?.message ?? stderr.trim().slice(-500)}`);
}
