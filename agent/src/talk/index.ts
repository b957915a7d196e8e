/** Conversations: what is said and done in them, on the disk. */
export { admit } from "./admit.js";
export { type Compacted, type CompactOptions, compact, compactAbove } from "./compact.js";
export type { BusyMode, Entry, EntryBody, FileRef, Origin, ResultHow } from "./entry.js";
export { EXPORT_FORMATS, type ExportFormat, exportConversation, writeSessionLog } from "./export.js";
export { follow } from "./follow.js";
export { type History, history, undoneLines, wholeHistory } from "./history.js";
export { Inbox, type InboxItem, type WaitingItem } from "./inbox.js";
export { Log } from "./log.js";
export { readableLog } from "./readable.js";
export { recallResult } from "./recall.js";
export { type LogRules, Sequence } from "./sequence.js";
export {
	describeEntries,
	findSession,
	lastSession,
	listSessions,
	pruneSessions,
	type SessionInfo,
	setTitle,
} from "./sessions.js";
export { segmentsOf, tokenRecord } from "./token-ids.js";
export { roughTokens } from "./tokens.js";
export { type ToolStatistics, toolStatistics } from "./tool-records.js";
export { fileText, noteText, noticeText, partialText, summaryText } from "./words.js";
