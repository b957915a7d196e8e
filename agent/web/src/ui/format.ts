/** Numbers and times as people read them. */
import { signal } from "@preact/signals";

/** Once a second, for what counts. */
export const now = signal(Date.now());
setInterval(() => {
	if (!document.hidden) now.value = Date.now();
}, 1_000);

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

export function clock(at: string): string {
	const date = new Date(at);
	if (Number.isNaN(date.getTime())) return "";
	return (date.toDateString() === new Date().toDateString() ? time : day).format(date);
}

export function ago(at: string, then: number): string {
	const seconds = Math.max(0, Math.floor((then - Date.parse(at)) / 1_000));
	if (Number.isNaN(seconds)) return "";
	if (seconds < 60) return "now";
	if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
	if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
	return `${Math.floor(seconds / 86_400)}d`;
}

export const tokens = (count: number): string => (count < 1_000 ? String(count) : `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`);
export const counted = (count: number, one: string, many: string): string => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
