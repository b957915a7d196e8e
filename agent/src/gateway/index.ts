/** The gateway: the same agent from chat platforms. */
export { TakenError } from "./claims.js";
export { Gateway, type GatewayOptions } from "./gateway.js";
export { type MetricsServer, serveMetrics } from "./metrics.js";
export { type OpenedPlatform, openPlatforms } from "./open-platforms.js";
export { type KnownPerson, type PairingCode, People, type Role } from "./people.js";
export { PLATFORMS, type Platform, PlatformError, platformKind } from "./platforms/index.js";
export { enableUnit, installedUnit, notifyReady, UNIT, unitFile, unitText, writeUnit } from "./service.js";
export { type GatewayHealth, type GatewayStatus, gatewayHealth } from "./status.js";
