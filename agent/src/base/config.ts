/** The agent's settings: a flag counts before agent.json, agent.json before the default. Each value says where it comes from. */
import type * as z from "zod";
import { withClaim } from "./claim.js";
import { describeUnknown, problemsOf } from "./config-problems.js";
import { type AgentConfig, agentConfigSchema } from "./config-schema.js";
import { AgentError, fromSystem } from "./errors.js";
import { readIfThere, writeWhole } from "./files.js";
import type { AgentHome } from "./home.js";
import { type JsonPlaces, jsonPlaces, pathText } from "./json-places.js";

/** A setting from the command line. */
export interface ConfigFlag {
	/** As the person wrote it: `--steps`. */
	readonly flag: string;
	readonly key: readonly string[];
	readonly value: unknown;
}

export interface ConfigValue {
	readonly key: string;
	/** Undefined: not set. */
	readonly value: unknown;
	readonly from: "flag" | "file" | "default";
	/** `--steps`, or `/…/agent.json line 4`. */
	readonly where: string;
}

export interface LoadedConfig {
	readonly config: AgentConfig;
	readonly file: string;
	readonly values: readonly ConfigValue[];
}

/** Throws `CONFIG`, naming file, line and key, if anything in it cannot be used: never the defaults in silence. */
export function loadAgentConfig(home: AgentHome, flags: readonly ConfigFlag[] = []): LoadedConfig {
	const { json, places } = readSettings(home.config);
	return check(home.config, json, places, flags);
}

export interface ConfigChange {
	readonly key: readonly string[];
	/** Undefined removes it. */
	readonly value: unknown;
}

/** Changes agent.json, whole or not at all, and only to something that can be used. Two programs at once come one after the other. */
export function changeAgentConfig(home: AgentHome, changes: readonly ConfigChange[]): Promise<LoadedConfig> {
	return withClaim(`${home.claims}/agent.json`, "setup", () => {
		const { json } = readSettings(home.config);
		for (const { key, value } of changes) put(json, key, value);
		const text = `${JSON.stringify(json, null, "\t")}\n`;
		const loaded = check(home.config, json, jsonPlaces(text), []);
		try {
			writeWhole(home.config, text, { sync: true });
		} catch (error) {
			throw fromSystem(error, `cannot write ${home.config}`);
		}
		return loaded;
	});
}

type Settings = Record<string, unknown>;

function readSettings(file: string): { readonly json: Settings; readonly places: JsonPlaces } {
	let bytes: Buffer | undefined;
	try {
		bytes = readIfThere(file);
	} catch (error) {
		throw new AgentError("CONFIG", `${file} cannot be read (${(error as Error).message}); correct that, or move it away`, { cause: error });
	}
	if (bytes === undefined) return { json: {}, places: jsonPlaces("{}") };
	const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
	if (text.trim() === "") throw new AgentError("CONFIG", `${file} is empty; write at least {} into it, or remove it`);
	const places = jsonPlaces(text);
	if (places.mistake) throw new AgentError("CONFIG", `${file} is no JSON: ${places.mistake}; correct it, or move it away`);
	const [doubled] = places.doubled;
	if (doubled) throw new AgentError("CONFIG", `${file} line ${places.lines.get(doubled)}: ${doubled} is there twice; remove one`);
	const json: unknown = JSON.parse(text);
	if (typeof json !== "object" || json === null || Array.isArray(json))
		throw new AgentError("CONFIG", `${file} is no object; write { "model": … } into it, or move it away`);
	return { json: json as Settings, places };
}

function check(file: string, json: Settings, places: JsonPlaces, flags: readonly ConfigFlag[]): LoadedConfig {
	const merged = structuredClone(json);
	for (const { key, value } of flags) put(merged, key, value);
	const parsed = agentConfigSchema.safeParse(merged, { error: describeUnknown });
	const whereIs = sources(file, places, flags);
	if (!parsed.success) {
		const said = problemsOf(parsed.error, merged).map(({ path, text }) => {
			const { from, where } = whereIs(path);
			return from === "default" ? `${file}: ${text}` : `${where}: ${text}`;
		});
		throw new AgentError("CONFIG", `${said.slice(0, MOST).join("\n")}${said.length > MOST ? `\nand ${said.length - MOST} more` : ""}`);
	}
	const config = parsed.data;
	if (config.endpoint !== undefined && !(config.endpoint in config.endpoints))
		throw new AgentError("CONFIG", unknownEndpoint(config, whereIs(["endpoint"]).where));
	const values = leaves(agentConfigSchema, config, []).map(({ path, value }) => ({ key: pathText(path), value, ...whereIs(path) }));
	return { config, file, values };
}

const MOST = 5;

const unknownEndpoint = ({ endpoint, endpoints }: AgentConfig, where: string): string => {
	const names = Object.keys(endpoints);
	return `${where}: endpoint is "${endpoint}", but ${names.length === 0 ? "endpoints has none; run `holdfast-agent setup endpoint`" : `endpoints has only ${names.join(", ")}`}`;
};

type Source = Pick<ConfigValue, "from" | "where">;

/** A value that is missing in the file is looked for above it: a wrong form of `endpoints.x` is in the line of that. */
function sources(file: string, { lines }: JsonPlaces, flags: readonly ConfigFlag[]): (path: readonly PropertyKey[]) => Source {
	return (path) => {
		const given = flags.findLast(({ key }) => key.every((part, at) => part === path[at]));
		if (given) return { from: "flag", where: given.flag };
		const line = lines.get(pathText(path));
		return line === undefined ? { from: "default", where: "" } : { from: "file", where: `${file} line ${line}` };
	};
}

function put(json: Settings, key: readonly string[], value: unknown): void {
	const last = key.at(-1) ?? "";
	let inside = json;
	for (const part of key.slice(0, -1)) {
		const there = Object.hasOwn(inside, part) ? inside[part] : undefined;
		if (typeof there !== "object" || there === null || Array.isArray(there)) define(inside, part, {});
		inside = inside[part] as Settings;
	}
	if (value === undefined) delete inside[last];
	else define(inside, last, value);
}

/** Also a name like `__proto__` becomes a key, which the schema then refuses. */
const define = (object: Settings, key: string, value: unknown): void =>
	void Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });

interface Leaf {
	readonly path: readonly PropertyKey[];
	readonly value: unknown;
}

/** Every value that is set or could be: sections are entered, lists are values. */
function leaves(schema: z.core.$ZodType | undefined, value: unknown, path: readonly PropertyKey[]): Leaf[] {
	const shape = shapeOf(schema);
	const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
	if (!isObject) return [{ path, value }];
	const keys = new Set([...Object.keys(shape), ...Object.keys(value)]);
	if (keys.size === 0) return [{ path, value }];
	return [...keys].flatMap((key) => leaves(shape[key], (value as Settings)[key], [...path, key]));
}

/** The keys of an object schema, below defaults. */
function shapeOf(schema: z.core.$ZodType | undefined): Readonly<Record<string, z.core.$ZodType>> {
	const { shape, innerType } = (schema?._zod.def ?? {}) as { readonly shape?: Record<string, z.core.$ZodType>; readonly innerType?: z.core.$ZodType };
	return shape ?? (innerType ? shapeOf(innerType) : {});
}
