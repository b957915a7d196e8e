import { CLIENT_INFO_META_KEY, type Server, type ServerContext } from "@modelcontextprotocol/server";

/** The name that a client gives itself: once for a connection, or with each request in the newer protocol. */
export function clientName(server: Server, context?: ServerContext): string | undefined {
	const envelope = context?.mcpReq.envelope as { [CLIENT_INFO_META_KEY]?: { name?: unknown } } | undefined;
	const name = envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name;
	return typeof name === "string" ? name : undefined;
}

/** A client's description of itself. */
export interface ClientInfo {
	readonly name?: string;
	readonly version?: string;
}

/** The same with its version, of a message that has not been answered yet, whatever it is. */
export function clientIn(message: unknown): ClientInfo {
	type Given = { name?: unknown; version?: unknown } | null | undefined;
	const { params } = (message ?? {}) as { params?: { clientInfo?: Given; _meta?: Record<string, Given> | null } | null };
	const given = params?.clientInfo ?? params?._meta?.[CLIENT_INFO_META_KEY];
	const [name, version] = [shown(given?.name), shown(given?.version)];
	return { ...(name === undefined ? {} : { name }), ...(version === undefined ? {} : { version }) };
}

const shown = (text: unknown): string | undefined => (typeof text === "string" && text.trim() !== "" ? text.trim().slice(0, LONGEST) : undefined);

const LONGEST = 100;
