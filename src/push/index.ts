/** The room of notifications to people. */
export { type PushOptions, startPush } from "./push.js";
