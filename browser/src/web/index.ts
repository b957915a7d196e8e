export type { Summariser } from "./summarise.js";
export { type WebToolOptions, type WebTools, webTools } from "./tools.js";
