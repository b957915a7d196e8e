/** Terminals side by side: which, in the address, so that a row of them has a link and the back button undoes a step. */
import { go, route } from "./route.js";

export const MOST_BESIDE = 4;

/** The terminals on show, in their order. */
export function onShowIds(): readonly string[] {
	const [view, ...ids] = route.value.parts;
	if (view === "p") return ids.slice(0, 1);
	return view === "side" ? [...new Set(ids)].slice(0, MOST_BESIDE) : [];
}

/** Puts it beside what is on show; what is there already is taken out. */
export function beside(id: string): void {
	const there = onShowIds();
	if (there.includes(id)) show(there.filter((other) => other !== id));
	else show([...there, id].slice(-MOST_BESIDE));
}

function show(ids: readonly string[]): void {
	if (ids.length > 1) go(["side", ...ids]);
	else go(ids[0] ? ["p", ids[0]] : []);
}
