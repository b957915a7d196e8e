export { commandEnd } from "./command.js";
export { type Copied, copy, type Progress } from "./copy.js";
export { type FarEnd, farFiles } from "./far.js";
export type { Entry, Files, Kind, Ran, Written } from "./files.js";
export { nearFiles } from "./near.js";
