/**
 * The base of other programs (a gateway, a runner of episodes): an agent with its settings, conversations, what happens in them, and the table of slash
 * commands. It stands on the public API of `holdfast` alone (scripts/rooms.mjs).
 */
export { AgentError, type AgentErrorCode, type AgentHome, KeyRing, type LoadedConfig, loadAgentConfig, openAgentHome } from "./base/index.js";
export {
	type Agent,
	type AgentOptions,
	type AgentSettings,
	type CommandContext,
	openAgent,
	runSlash,
	SLASH_COMMANDS,
	type SlashCommand,
} from "./chat/index.js";
export { type BusyMode, type Entry, findSession, listSessions, type Origin, type SessionInfo } from "./talk/index.js";
export type { Conversation, ConversationDoor, TurnEnd, TurnEvent } from "./turn/index.js";
