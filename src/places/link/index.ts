/** A byte stream to a remote shell, and the requests that it serves. docs/link.md. */
export { BOOT } from "./boot.js";
export { bridged, type PortAddress } from "./bridge.js";
export { LinkBroken } from "./broken.js";
export { Connection } from "./connection.js";
export type { Facts } from "./facts.js";
export { Link } from "./link.js";
export { type LinkQuestion, parseInode, questionLine } from "./questions.js";
