/**
 * The agent's home: one directory, for its owner alone. Settings and keys are in it too, not below $XDG_CONFIG_HOME: an agent is one directory. A program with
 * another $HOLDFAST_AGENT_HOME (a second agent, a bot, a test) gets other settings, keys and conversations, and shares none by accident.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { AgentError, errno, fromSystem } from "./errors.js";
import { ensureDir } from "./files.js";

export interface AgentHome {
	readonly root: string;
	/** agent.json: what a person, or `setup`, has set. */
	readonly config: string;
	/** keys/NAME: API keys and tokens, one a file. */
	readonly keys: string;
	/** conversations/ID.jsonl */
	readonly conversations: string;
	/** inbox/ID.jsonl: what waits to be said to a conversation. */
	readonly inbox: string;
	/** logs/session_ID.json: derived from conversations after every turn. */
	readonly logs: string;
	/** claims/NAME/: who writes to what. */
	readonly claims: string;
}

/** The home of this program. A relative one would be another in every directory. */
export function ownAgentHome(env: NodeJS.ProcessEnv = process.env): string {
	const { HOLDFAST_AGENT_HOME: own, XDG_STATE_HOME: state } = env;
	if (own && !path.isAbsolute(own))
		throw new AgentError("INVALID", `HOLDFAST_AGENT_HOME is "${own}", which depends on the directory one is in; give an absolute path`);
	if (own) return path.normalize(own);
	return path.join(state && path.isAbsolute(state) ? state : path.join(env.HOME || os.homedir(), ".local", "state"), "holdfast-agent");
}

/** Opens a home, making it if need be. */
export function openAgentHome(root: string = ownAgentHome()): AgentHome {
	const inside = (name: string) => path.join(root, name);
	const home: AgentHome = {
		root,
		config: inside("agent.json"),
		keys: inside("keys"),
		conversations: inside("conversations"),
		inbox: inside("inbox"),
		logs: inside("logs"),
		claims: inside("claims"),
	};
	try {
		for (const dir of [root, home.keys, home.conversations, home.inbox, home.logs, home.claims]) ensureDir(dir);
		const { mode, uid } = fs.statSync(root);
		if (uid !== process.getuid?.()) throw new AgentError("HOME", `${root} belongs to another user; choose another home with HOLDFAST_AGENT_HOME`);
		if (mode & 0o077) fs.chmodSync(root, 0o700);
	} catch (error) {
		if (["EEXIST", "ENOTDIR"].includes(errno(error) ?? ""))
			throw new AgentError("HOME", `cannot use ${root} as home: a file is in its way; move it, or choose another home with HOLDFAST_AGENT_HOME`, {
				cause: error,
			});
		if (errno(error) === "ENOENT")
			throw new AgentError("HOME", `cannot make ${root}: no directory can be made there; choose another home with HOLDFAST_AGENT_HOME`, { cause: error });
		throw fromSystem(error, `cannot use ${root} as home`);
	}
	return home;
}

export const conversationFile = (home: AgentHome, id: string): string => path.join(home.conversations, `${id}.jsonl`);
export const inboxFile = (home: AgentHome, id: string): string => path.join(home.inbox, `${id}.jsonl`);
export const inboxClaim = (home: AgentHome, id: string): string => path.join(home.claims, `inbox-${id}`);
export const sessionLogFile = (home: AgentHome, id: string): string => path.join(home.logs, `session_${id}.json`);
