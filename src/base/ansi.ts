/** Output as text to read: a terminal would act on escape sequences and control characters, a model trips over them. */

// CSI; OSC, DCS and the other strings, which never go over a line end here, lest one without an end swallows everything; the short ones.
export const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]/g;
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Without escape sequences, and of the control characters only tabs and line ends. */
export const plainText = (text: string): string => text.replace(SEQUENCE, "").replace(CONTROL, "");
