/** The room of notices: what happens to background processes, queued for their task. */
export { type Clock, useClock } from "./clock.js";
export { handBack, handBackLost } from "./keyboard.js";
export { type Notice, noticeSchema } from "./notice.js";
export { Notices, type StreamOptions } from "./notices.js";
export { tasksWithNotices } from "./tasks.js";
export { type ArmResult, isWithinLine, LONGEST_INTERVAL, PATTERN_LENGTH, PATTERNS_AT_MOST, SHORTEST_INTERVAL, WITHIN_LINE, type Wishes } from "./wishes.js";
