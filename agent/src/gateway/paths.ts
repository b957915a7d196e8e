/** Files of the gateway in the agent's home. */
import path from "node:path";
import { type AgentHome, ensureDir, fileKey, ownAgentHome } from "../base/index.js";

export interface GatewayPaths {
	readonly root: string;
	/** chats/KEY.json */
	readonly chats: string;
	/** files/KEY/: what people have sent. */
	readonly files: string;
	/** People who may write, besides those of agent.json. */
	readonly people: string;
	/** Codes that strangers were given. */
	readonly pairing: string;
	/** The status that the running gateway writes. */
	readonly status: string;
}

export function gatewayPaths(home: AgentHome): GatewayPaths {
	const root = path.join(home.root, "gateway");
	const inside = (name: string): string => path.join(root, name);
	return {
		root,
		chats: inside("chats"),
		files: inside("files"),
		people: inside("people.json"),
		pairing: inside("pairing.json"),
		status: inside("status.json"),
	};
}

export function makeGatewayDirs({ root, chats, files }: GatewayPaths): void {
	for (const dir of [root, chats, files]) ensureDir(dir);
}

export const chatFile = ({ chats }: GatewayPaths, key: string): string => path.join(chats, `${fileKey(key)}.json`);
export const outboxFile = ({ root }: GatewayPaths, platform: string): string => path.join(root, `outbox-${fileKey(platform)}.jsonl`);
export const gatewayClaim = (home: AgentHome, name: string): string => path.join(home.claims, `gateway-${name}`);
/** A claim in the default home, where all homes of this user look. */
export const accountClaim = (account: string): string =>
	path.join(ownAgentHome({ ...process.env, HOLDFAST_AGENT_HOME: undefined }), "claims", `account-${account}`);
