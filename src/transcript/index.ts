/** The room of transcripts: everything that a task did, in order, with output; live, searched, exported. */
export type { TranscriptEntry } from "./entry.js";
export { type ExportFormat, exportOf, FORMATS, withOutput } from "./export.js";
export { followTask } from "./follow.js";
export { linesOf, outputOf } from "./output.js";
export { type EntryOfProcess, TaskTranscript } from "./read.js";
export { matching } from "./search.js";
export { knownTasks, mustBeKnown, recordedTasks, taskIn } from "./tasks.js";
export { wordsOf } from "./words.js";
