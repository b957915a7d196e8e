export { commandEnd } from "./command.js";
export { type Copied, checkEnd, copy, type End, type Progress } from "./copy.js";
export { farFiles } from "./far.js";
export type { Entry, Files } from "./files.js";
export { linkEnd } from "./linked.js";
export { nearFiles } from "./near.js";
export { strictFiles } from "./strict.js";
