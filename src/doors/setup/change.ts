/** The change to one client's configuration, and the proof that it concerns only our entry. */
import { isDeepStrictEqual } from "node:util";
import { HoldfastError } from "../../base/index.js";
import type { McpClient, ServerEntry } from "./clients.js";
import { maskedDiff } from "./diff.js";
import { type ConfigFile, readConfig } from "./file.js";

const NAME = "holdfast";

export interface Change {
	/** `none`: it is already as wanted. */
	readonly kind: "none" | "add" | "update" | "remove";
	readonly config: ConfigFile;
	/** The whole new text. */
	readonly text: string;
	readonly diff: readonly string[];
	/** Something to know about the entry as it is. */
	readonly note: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** `entry` undefined: none is wanted. Settings that people have added to the entry (a timeout, an environment) are kept. */
export function planChange(client: McpClient, file: string, entry: ServerEntry | undefined): Change {
	const config = readConfig(file);
	const decoded = decode(config);
	const mark = decoded.startsWith("\ufeff") ? "\ufeff" : ""; // parsers stumble over it
	const before = decoded.slice(mark.length);
	const { existing, others } = lookInto(client, before, file);
	const wanted = entry && { ...entry, ...missing(client.patience, existing) };
	const merged = wanted && runsProgram(existing, wanted) ? { ...existing, ...wanted } : wanted;
	if (isDeepStrictEqual(existing, merged)) return { kind: "none", config, text: decoded, diff: [], note: offNote(existing) };
	const after = edit(client, before, existing, wanted);
	verify(client, after, file, { existing: merged, others });
	return {
		kind: wanted === undefined ? "remove" : existing === undefined ? "add" : "update",
		config,
		text: mark + after,
		diff: maskedDiff(before, after, new Set([...stringsOf(wanted), ...stringsOf(ownPart(existing))])),
		note: wanted ? offNote(merged) : null,
	};
}

/** A person who has set a limit of their own keeps it. */
const missing = (patience: ServerEntry = {}, existing: unknown): ServerEntry =>
	Object.fromEntries(Object.entries(patience).filter(([name]) => !isFields(existing) || existing[name] === undefined));

function decode({ path, bytes }: ConfigFile): string {
	try {
		return bytes === undefined ? "" : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch (error) {
		throw new HoldfastError("CONFIG", `${path} is not UTF-8 text, and was left alone`, { cause: error });
	}
}

interface Content {
	readonly existing: unknown;
	/** Everything else. That there is a table for servers is nothing by itself. */
	readonly others: Fields;
}

function lookInto(client: McpClient, text: string, file: string): Content {
	let root: unknown;
	try {
		root = client.format.parse(text);
	} catch (error) {
		throw new HoldfastError(
			"CONFIG",
			`${file} cannot be read as ${client.format.name} (${(error as Error).message}), and was left alone; mend it, then run setup again`,
			{
				cause: error,
			},
		);
	}
	if (!isFields(root)) throw new HoldfastError("CONFIG", `${file} holds something else than settings, and was left alone`);
	const { [client.table]: servers = {}, ...rest } = root;
	if (!isFields(servers)) throw new HoldfastError("CONFIG", `"${client.table}" in ${file} is not an object with servers by name, and was left alone`);
	const { [NAME]: existing, ...neighbours } = servers;
	return {
		existing: isFields(existing) ? { ...existing } : existing,
		others: Object.keys(neighbours).length > 0 ? { ...rest, [client.table]: neighbours } : rest,
	};
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether an entry is of the kind that starts a program; one that has an address is replaced as a whole. */
function runsProgram(existing: unknown, wanted: ServerEntry): existing is Fields {
	if (!isFields(existing) || "url" in existing || "httpUrl" in existing) return false;
	return existing.type === undefined || existing.type === (wanted.type ?? "stdio");
}

function edit({ format, table }: McpClient, text: string, existing: unknown, wanted: ServerEntry | undefined): string {
	if (wanted === undefined) return format.remove(text, [table, NAME]);
	if (!runsProgram(existing, wanted)) return format.set(text, [table, NAME], wanted);
	const different = Object.entries(wanted).filter(([key, value]) => !isDeepStrictEqual(existing[key], value));
	return different.reduce((edited, [key, value]) => format.set(edited, [table, NAME, key], value), text);
}

function verify(client: McpClient, after: string, file: string, expected: Content): void {
	try {
		if (isDeepStrictEqual(lookInto(client, after, file), expected)) return;
	} catch {
		// no longer readable: as bad as different
	}
	const byHand =
		expected.existing === undefined
			? `take out "${NAME}" from "${client.table}"`
			: `put in "${NAME}" below "${client.table}": ${JSON.stringify(expected.existing)}`;
	throw new HoldfastError(
		"CONFIG",
		`${file} is written in a way that setup cannot change without touching other settings, and was left alone; by hand: ${byHand}`,
	);
}

const offNote = (entry: unknown): string | null => (isFields(entry) && entry.enabled === false ? "the entry is switched off there (enabled: false)" : null);

/** The fields of an entry that hold no secrets, unlike an environment, headers or an address. */
const ownPart = (entry: unknown): unknown => (isFields(entry) ? [entry.type, entry.command, entry.args] : []);

function stringsOf(value: unknown): string[] {
	if (typeof value === "string") return [value];
	return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}
