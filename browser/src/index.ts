/** Web and browser tools for agents: `holdfast-browser`. What is exported here is public, the rest is not. */
export { loadSettings, type Settings, WebError } from "./base/index.js";
export { type BrowserAvailability, browserAvailable } from "./chrome/index.js";
export { type BrowserPolicy, type BrowserTools, browserTools, POLICY } from "./drive/index.js";
export { type Summariser, type WebToolOptions, type WebTools, webTools } from "./web/index.js";
