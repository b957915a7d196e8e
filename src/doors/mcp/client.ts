import { CLIENT_INFO_META_KEY, type JSONRPCMessage, type Server, type ServerContext } from "@modelcontextprotocol/server";

/** The name that a client gives itself: once for a connection, or with each request in the newer protocol. */
export function clientName(server: Server, context?: ServerContext): string | undefined {
	const envelope = context?.mcpReq.envelope as { [CLIENT_INFO_META_KEY]?: { name?: unknown } } | undefined;
	const name = envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name;
	return typeof name === "string" ? name : undefined;
}

/** The same, of a message that has not been answered yet. */
export function clientIn(message: JSONRPCMessage): string | undefined {
	const params =
		"params" in message ? (message.params as { clientInfo?: { name?: unknown }; _meta?: Record<string, { name?: unknown } | undefined> }) : undefined;
	const name = params?.clientInfo?.name ?? params?._meta?.[CLIENT_INFO_META_KEY]?.name;
	return typeof name === "string" && name.trim() !== "" ? name.trim().slice(0, LONGEST) : undefined;
}

const LONGEST = 100;
