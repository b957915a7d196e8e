export { type BrowserAvailability, browserAvailable } from "./find.js";
export { findBrowser, type KeptBrowser, keptBrowser, type LaunchSettings, profileOf } from "./kept.js";
export { openTunnel } from "./tunnel.js";
