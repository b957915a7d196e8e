/** The room of notices: what happens to background processes, queued for their task. */
export type { Notice } from "./notice.js";
export { Notices, type StreamOptions } from "./notices.js";
export type { Wishes } from "./wishes.js";
