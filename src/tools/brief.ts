const SHOWN = 60; // characters

/** Shortens a model's text so that it fits into a sentence. */
export const brief = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
