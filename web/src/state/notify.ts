/** Tells a person who is not looking: by the browser's notifications, if allowed, and by words that a screen reader says. */
import { effect, signal } from "@preact/signals";
import { pending } from "./approvals.js";
import { known, nameOf, statusWords, waiting } from "./processes.js";
import { go } from "./route.js";

export const supported = "Notification" in window;
export const permission = signal<NotificationPermission>(supported ? Notification.permission : "denied");
/** Said aloud. */
export const announced = signal("");

export async function askPermission(): Promise<void> {
	permission.value = await Notification.requestPermission();
}

interface Call {
	readonly id: string;
	readonly title: string;
	readonly text: string;
	readonly to: readonly string[];
}

/** Each is told once for as long as it waits; what waited already when the page was opened is on the screen anyway. */
export function startNotifying(): void {
	let told: ReadonlySet<string> | undefined;
	effect(() => {
		const calls: Call[] = [
			...waiting.value.map((process) => ({
				id: process.session_id,
				title: `${nameOf(process)} ${statusWords(process)}`,
				text: process.last_line,
				to: ["p", process.session_id],
			})),
			...pending.value.map(({ id, command }) => ({ id, title: "An agent asks for your approval", text: command, to: ["approvals"] })),
		];
		if (!known.value) return;
		for (const call of calls) if (told && !told.has(call.id)) tell(call);
		told = new Set(calls.map(({ id }) => id));
	});
}

function tell({ id, title, text, to }: Call): void {
	announced.value = title;
	if (!supported || permission.value !== "granted" || document.hasFocus()) return;
	const shown = new Notification(title.slice(0, 200), { body: text.slice(0, 300), tag: id, icon: "/icon.svg" });
	shown.onclick = () => {
		window.focus();
		go(to);
		shown.close();
	};
}
