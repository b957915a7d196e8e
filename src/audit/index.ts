/** The room of the record: what was asked, decided, run, and how it ended. */
export { Audit } from "./audit.js";
export { type End, markAudited, noteEnd, runOf } from "./ends.js";
export type { AuditEvent } from "./event.js";
export { type AuditQuery, followAudit, readAudit } from "./read.js";
