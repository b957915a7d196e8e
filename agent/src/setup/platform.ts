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

/** Returns the settings of a platform that have to be set and have no default; one inside of another is named with a dot: `imap.host`. */
export function requiredSettings(kind: string): string[] {
	return requiredIn(platformKind(kind).settings);
}

function requiredIn(schema: z.ZodType, path = ""): string[] {
	const { shape } = schema._zod.def as unknown as { shape?: Record<string, z.ZodType> };
	if (!shape) return [path];
	return Object.entries(shape).flatMap(([name, one]) => (one.safeParse(undefined).success ? [] : requiredIn(one, path === "" ? name : `${path}.${name}`)));
}

export const settingAt = (settings: Readonly<Record<string, unknown>>, path: string): unknown =>
	path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], settings);

/** Returns the settings with one more. */
export function withSetting(settings: Readonly<Record<string, unknown>>, path: string, value: unknown): Record<string, unknown> {
	const [name = "", ...rest] = path.split(".");
	if (rest.length === 0) return { ...settings, [name]: value };
	const inner = (settings[name] ?? {}) as Readonly<Record<string, unknown>>;
	return { ...settings, [name]: withSetting(inner, rest.join("."), value) };
}

/** Numbers, yes and no, and lists and objects, as people type them. */
export function typedValue(text: string): unknown {
	const trimmed = text.trim();
	if (/^\d+$/.test(trimmed)) return Number(trimmed);
	if (trimmed === "true" || trimmed === "false") return trimmed === "true";
	if (!/^[[{]/.test(trimmed)) return trimmed;
	try {
		return JSON.parse(trimmed);
	} catch {
		return trimmed; // the platform says what it wants instead
	}
}

/** Tries the account. Rejects with what is wrong, in words. */
export async function tryPlatform({
	kind,
	settings,
	secrets,
}: PlatformDraft): Promise<{ readonly platform: Platform; readonly words: string; readonly address: string }> {
	const platform = await opened(kind, settings, secrets);
	const { name, address } = await platform.account(AbortSignal.timeout(TRY_MS));
	return { platform, words: `${PLATFORMS[kind]?.label ?? kind} knows the account: ${name}`, address: address ?? name };
}

async function opened(kind: string, settings: PlatformDraft["settings"], secrets: PlatformDraft["secrets"]): Promise<Platform> {
	try {
		return await platformKind(kind).open(settings, secrets);
	} catch (error) {
		const { issues } = error as Partial<z.ZodError>;
		if (!issues) throw error;
		throw new AgentError("CONFIG", issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`).join("; "), { cause: error });
	}
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
