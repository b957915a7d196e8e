/** A chat platform for the gateway: its account is tried, and the first who writes to it is offered as its owner, before anything is saved. */
import type * as z from "zod";
import { AgentError, type AgentHome, type ConfigChange, changeAgentConfig, type KeyRing, type LoadedConfig, type PlatformConfig } from "../base/index.js";
import { PLATFORMS, type Platform, platformKind } from "../gateway/index.js";

const TRY_MS = 30_000;

export interface PlatformDraft {
	/** In agent.json. */
	readonly name: string;
	readonly kind: string;
	readonly settings: Readonly<Record<string, unknown>>;
	/** As they were typed, by the names that the platform gives them. */
	readonly secrets: Readonly<Record<string, string>>;
	/** The id of who may do everything. */
	owner?: string | undefined;
}

export interface FirstWriter {
	readonly id: string;
	readonly name: string;
}

/** What has to be set for a platform and has no default. */
export function requiredSettings(kind: string): string[] {
	const shape = ((platformKind(kind).settings._zod.def as unknown as { shape?: Record<string, z.ZodType> }).shape ?? {}) as Record<string, z.ZodType>;
	return Object.entries(shape).flatMap(([name, schema]) => (schema.safeParse(undefined).success ? [] : [name]));
}

/** Numbers, yes and no, and lists, as people type them. */
export function typedValue(text: string): unknown {
	const trimmed = text.trim();
	if (/^\d+$/.test(trimmed)) return Number(trimmed);
	if (trimmed === "true" || trimmed === "false") return trimmed === "true";
	return trimmed.startsWith("[") ? JSON.parse(trimmed) : trimmed;
}

/** Tries the account. Rejects with what is wrong, in words. */
export async function tryPlatform({
	kind,
	settings,
	secrets,
}: PlatformDraft): Promise<{ readonly platform: Platform; readonly words: string; readonly address: string }> {
	const platform = await platformKind(kind).open(settings, secrets);
	const { name, address } = await platform.account(AbortSignal.timeout(TRY_MS));
	return { platform, words: `${PLATFORMS[kind]?.label ?? kind} knows the account: ${name}`, address: address ?? name };
}

/** Connects, and resolves with the first person who writes in private. Undefined: the signal came first. */
export async function firstWriter(platform: Platform, signal: AbortSignal): Promise<FirstWriter | undefined> {
	const found = new AbortController();
	let writer: FirstWriter | undefined;
	await platform.run(
		{
			async message({ chat, person }) {
				if (writer || chat.kind !== "direct") return;
				writer = { id: person.id, name: person.name ?? person.id };
				found.abort();
			},
			tapped: async () => {},
			connection: () => {},
		},
		AbortSignal.any([signal, found.signal]),
	);
	return writer;
}

export function platformChanges({ name, kind, settings, secrets, owner }: PlatformDraft): ConfigChange[] {
	const keys = Object.fromEntries(Object.keys(secrets).map((secret) => [secret, { file: keyName(name, secret) }]));
	const value: Partial<PlatformConfig> = { ...(kind === name ? {} : { kind }), ...settings, keys };
	return [{ key: ["gateway", "platforms", name], value }, ...(owner === undefined ? [] : [{ key: ["gateway", "people", `${name}/${owner}`], value: "admin" }])];
}

/** The tokens first: settings that name a key which is not there would be worse than a key that no setting names. */
export async function savePlatform(home: AgentHome, keys: KeyRing, draft: PlatformDraft): Promise<LoadedConfig> {
	if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,40}$/.test(draft.name))
		throw new AgentError("INVALID", `"${draft.name}" cannot be the name of a platform; use letters, digits and dashes`);
	for (const [secret, value] of Object.entries(draft.secrets)) keys.store(keyName(draft.name, secret), value);
	return changeAgentConfig(home, platformChanges(draft));
}

const keyName = (name: string, secret: string): string => `${name}-${secret}`;
