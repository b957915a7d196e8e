/** Numbers as people read them. */
export function duration(seconds: number): string {
	const s = Math.max(0, Math.floor(seconds));
	if (s < 60) return `${s}s`;
	const m = Math.floor(s / 60);
	if (m < 60) return `${m}m ${String(s % 60).padStart(2, "0")}s`;
	const h = Math.floor(m / 60);
	if (h < 24) return `${h}h ${String(m % 60).padStart(2, "0")}m`;
	return `${Math.floor(h / 24)}d ${h % 24}h`;
}

/** For what is often over in a moment. */
export const brief = (seconds: number): string => (seconds < 10 ? `${Math.max(0, seconds).toFixed(1)}s` : duration(seconds));

/** How long ago, roughly. */
export function ago(seconds: number): string {
	if (seconds < 5) return "just now";
	return `${duration(seconds).split(" ")[0]} ago`;
}

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function bytes(count: number): string {
	let value = count;
	let unit = 0;
	while (value >= 1024 && unit < UNITS.length - 1) {
		value /= 1024;
		unit++;
	}
	return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

const sameDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const otherDay = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

export function clock(time: string | number): string {
	const date = new Date(time);
	return (date.toDateString() === new Date().toDateString() ? sameDay : otherDay).format(date);
}
