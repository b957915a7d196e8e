import { randomBytes } from "node:crypto";

/** A task for a client that named none: its own, and nobody's after it. */
export const newTask = (): string => `mcp-${randomBytes(6).toString("hex")}`;
