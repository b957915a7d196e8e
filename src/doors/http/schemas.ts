/** The schemas of all JSON requests and answers of the HTTP door. Uses nothing of Node, since the page imports the types. */
export * from "./schemas/access.js";
export * from "./schemas/approvals.js";
export * from "./schemas/calls.js";
export * from "./schemas/files.js";
export * from "./schemas/home.js";
export * from "./schemas/links.js";
export * from "./schemas/output.js";
export * from "./schemas/processes.js";
export * from "./schemas/transcripts.js";
