/** Files of a place, local or remote, and copies between places. docs/files.md. */
export { commandEnd } from "./command.js";
export { contentOf, wholeContent } from "./content.js";
export { type Copied, type CopyProgress, type CopySide, checkEnd, copy } from "./copy.js";
export type { Entry, Files } from "./interface.js";
export { linkEnd } from "./linked.js";
export { localFiles } from "./local.js";
export { remoteFiles } from "./remote.js";
export { strictFiles } from "./strict.js";
export { tarOf } from "./tar.js";
export { isTemporary, temporaryName } from "./temporary.js";
