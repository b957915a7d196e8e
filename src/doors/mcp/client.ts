import { CLIENT_INFO_META_KEY, type Server, type ServerContext } from "@modelcontextprotocol/server";

/** The name that a client gives itself: once for a connection, or with each request in the newer protocol. */
export function clientName(server: Server, context?: ServerContext): string | undefined {
	const envelope = context?.mcpReq.envelope as { [CLIENT_INFO_META_KEY]?: { name?: unknown } } | undefined;
	const name = envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name;
	return typeof name === "string" ? name : undefined;
}
