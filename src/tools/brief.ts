const SHOWN = 60; // characters

/** What a model sent may be long, and goes into sentences. */
export const brief = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
