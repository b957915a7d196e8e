/** The room of notices: what happens to background processes, queued for their task. */
export { handBack, handBackLost } from "./keyboard.js";
export type { Notice } from "./notice.js";
export { Notices, type StreamOptions } from "./notices.js";
export type { ArmResult, Wishes } from "./wishes.js";
