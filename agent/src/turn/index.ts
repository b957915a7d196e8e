export type { Conversation } from "./conversation.js";
export type { TurnEnd, TurnEvent } from "./events.js";
export { isUnanswered } from "./lines.js";
export { type ConversationDoor, type ConversationOptions, openConversation } from "./open.js";
export { checkPlace, parsePlace } from "./place.js";
export { stateDir } from "./state.js";
export { addUsage } from "./usage.js";
