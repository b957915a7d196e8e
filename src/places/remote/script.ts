/** Runs POSIX sh text on a remote machine. */
export type Runs = (script: string) => Promise<{ readonly status: number; readonly output: Buffer }>;

/** Whatever language its user has chosen, the tools are to speak English. */
export const SETUP = "LC_ALL=C; export LC_ALL";
