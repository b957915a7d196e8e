/** The MCP door. */
export { type HttpDoor, httpDoor } from "./door.js";
export { McpHttp } from "./http.js";
export { type ClientFields, clientFields } from "./presence.js";
export { createServer } from "./server.js";
export { serveStdio } from "./stdio.js";
export { CallTasks, declaresTasks, serveTasks, TASKS } from "./tasks.js";
export type { ServedTool } from "./tools.js";
