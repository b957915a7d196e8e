/** Runs POSIX sh text on a remote machine. */
export type Runs = (script: string) => Promise<{ readonly status: number; readonly output: Buffer }>;

/** Makes the tools print English, whatever language the user has chosen. */
export const SETUP = "LC_ALL=C; export LC_ALL";
