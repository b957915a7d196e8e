/** One byte stream to a shell elsewhere, and all that can be asked for on it. docs/link.md. */
export { LinkBroken } from "./broken.js";
export { Connection } from "./connection.js";
export type { Facts } from "./facts.js";
export { Link } from "./link.js";
export { parseInode, type Question, questionLine } from "./questions.js";
