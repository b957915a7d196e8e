/** The room of notices: what happens to background processes, queued for their task. */
export { type Notice, noticeSchema } from "./notice.js";
export { Notices, type StreamOptions } from "./notices.js";
export { type ArmResult, SHORTEST_INTERVAL, type Wishes } from "./wishes.js";
