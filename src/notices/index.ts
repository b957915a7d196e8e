/** The room of notices: what happens to background processes, queued for their task. */
export { type ArmOptions, type Notice, Notices } from "./notices.js";
