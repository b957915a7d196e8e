import type { Limits } from "holdfast";

/**
 * The numbers that the task of a conversation is opened with. Much output reaches us and little of it the model (outcome.ts): what repeats itself can be
 * left out only by someone who has seen it. What reads output back (`log`, `poll`) is shown as it is, so it is cut earlier.
 */
export const TASK_LIMITS = { outputChars: 200_000, recentChars: 30_000, tailChars: 8_000 } as const satisfies Partial<Limits>;

/** Characters of a result that the model is shown, unless it asks for more. */
export const SHOWN_CHARS = 12_000;

/** How a door names itself in the audit of the core. */
export const DOOR = "agent";
