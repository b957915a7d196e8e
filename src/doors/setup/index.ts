/** The MCP clients that `holdfast setup` knows: where each has its configuration, how our entry gets into it, how the file is replaced. Loaded lazily. */

export { type Change, planChange } from "./change.js";
export { CLIENTS, locate, type McpClient } from "./clients.js";
export { replaceConfig } from "./file.js";
export { type Server, serverCommand } from "./server.js";
