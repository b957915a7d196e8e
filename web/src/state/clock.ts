/** The clock of every "since 5 minutes": it ticks only while the page is visible. */
import { signal } from "@preact/signals";

export const now = signal(Date.now());

const tick = (): void => {
	if (!document.hidden) now.value = Date.now();
};
setInterval(tick, 1_000);
document.addEventListener("visibilitychange", tick);
