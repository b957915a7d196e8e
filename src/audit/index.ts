/** The room of the record: what was asked, decided, run, and how it ended. */
export { Audit } from "./audit.js";
export { markAudited, noteEnd, type ProcessEnd, runOf } from "./ends.js";
export type { AuditEvent } from "./event.js";
export { type AuditQuery, type EndOf, followAudit, lastRun, readAudit } from "./read.js";
