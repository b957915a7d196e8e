export { type ServedToolset, serveToolsets } from "./mcp.js";
export { type OfferedToolset, offeredToolsets } from "./toolsets.js";
