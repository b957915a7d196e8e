export { type BrowserPolicy, POLICY } from "./policy.js";
export { type BrowserTools, browserTools } from "./tools.js";
