/** From agent.json to the platforms that a gateway uses. Their libraries are loaded here, and only those that are set up. */
import { createHash } from "node:crypto";
import { AgentError, type KeyRing, type PlatformConfig } from "../base/index.js";
import type { AgentSettings } from "../chat/index.js";
import { platformKind } from "./platforms/index.js";
import type { Platform } from "./platforms/platform.js";

export interface OpenedPlatform {
	readonly name: string;
	readonly platform: Platform;
	/** The same for the same account, in any home: a hash that does not tell its secrets. */
	readonly account: string;
}

/** Throws `CONFIG` or `KEY` if one of them cannot be used as it is set. */
export async function openPlatforms({ config }: AgentSettings, keys: KeyRing): Promise<OpenedPlatform[]> {
	const wanted = Object.entries(config.gateway.platforms).filter(([, { enabled }]) => enabled);
	return Promise.all(wanted.map(([name, one]) => openPlatform(name, one, keys)));
}

async function openPlatform(name: string, given: PlatformConfig, keys: KeyRing): Promise<OpenedPlatform> {
	const { kind = name, enabled: _, keys: sources, ...settings } = given;
	const secrets = Object.fromEntries(await Promise.all(Object.entries(sources).map(async ([key, source]) => [key, await keys.read(source)] as const)));
	try {
		const platform = await platformKind(kind).open(settings, secrets);
		const account = createHash("sha256")
			.update(JSON.stringify([kind, platformKind(kind).account(settings, secrets)]))
			.digest("hex")
			.slice(0, 32);
		return { name, account, platform };
	} catch (error) {
		if (error instanceof AgentError) throw new AgentError(error.code, `gateway.platforms.${name}: ${error.message}`, { cause: error });
		const issues = (error as { readonly issues?: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] }).issues;
		if (!issues) throw error;
		const said = issues.map(({ path, message }) => `gateway.platforms.${[name, ...path.map(String)].join(".")}: ${message}`).join("\n");
		throw new AgentError("CONFIG", `${said}\nrun \`holdfast-agent setup platform\`, or correct agent.json`, { cause: error });
	}
}
