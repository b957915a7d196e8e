/** The base of every room of the agent: errors, the home, settings, keys, files of lines, claims, ids, the time. */
export { Claim, type ClaimHolder, heldBy, withClaim } from "./claim.js";
export { type Clock, isoTime, systemClock } from "./clock.js";
export { type ConfigChange, type ConfigFlag, changeAgentConfig, type LoadedConfig, loadAgentConfig } from "./config.js";
export { type AgentConfig, agentConfigSchema, type EndpointConfig, type McpServerConfig, mcpServerSchema, type PlatformConfig } from "./config-schema.js";
export { AgentError, type AgentErrorCode, errno, fromSystem } from "./errors.js";
export { ensureDir, namesIn, readIfThere, syncDir, writeWhole } from "./files.js";
export { type AgentHome, conversationFile, inboxClaim, inboxFile, openAgentHome, ownAgentHome, sessionLogFile } from "./home.js";
export { fileKey, isConversationId, newConversationId, newMessageId } from "./ids.js";
export { type LineDisk, LineFile, readLines, readOpenLines } from "./jsonl.js";
export { KeyRing, type KeySource } from "./keys.js";
export { inLanes } from "./lanes.js";
export { nearNames } from "./near.js";
export { anySignal } from "./signals.js";
export { watchFile } from "./watch.js";
