import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "./clock.js";

/** `YYYYMMDD_HHMMSS_<6 hex>`, in local time: people read it, and lists sort by it. */
export function newConversationId(clock: Clock): string {
	const date = new Date(clock.now());
	const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(two).join("");
	const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join("");
	return `${day}_${time}_${randomBytes(3).toString("hex")}`;
}

const two = (part: number): string => String(part).padStart(2, "0");

export const isConversationId = (text: string): boolean => /^\d{8}_\d{6}_[0-9a-f]{6}$/.test(text);

/** The id of a message that has none of its platform. */
export const newMessageId = (): string => `msg_${randomBytes(8).toString("hex")}`;

/** Makes a file name of a task's or chat's name, which may hold anything: its readable part, and a hash that tells it from every other. */
export function fileKey(name: string): string {
	const readable = name
		.replace(/[^A-Za-z0-9]+/g, "-")
		.replace(/^-|-$/g, "")
		.slice(0, 40);
	return `${readable || "chat"}-${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}
