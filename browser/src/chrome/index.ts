export { type BrowserAvailability, browserAvailable } from "./find.js";
export { findBrowser, holderOf, type KeptBrowser, keptBrowser, type LaunchSettings, profileOf } from "./kept.js";
export { openTunnel } from "./tunnel.js";
