/** Returns a text as one word of POSIX shell text, whatever is in it (but NUL, which no word can hold). */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
