/** How the list is shown: what fits the filter, in groups, and what a person has pinned, collapsed and cleared in this browser. */
import { computed, signal } from "@preact/signals";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { kept, keptSet } from "./kept.js";
import { isRunning, isWaiting, newestFirst, waiting } from "./processes.js";

export const FILTERS = { all: "All", running: "Running", ended: "Ended" } as const;
export type Filter = keyof typeof FILTERS;

export const text = signal("");
export const filter = signal<Filter>("all");
export const grouping = kept("grouping", "task");
export const pinned = keptSet("pinned");
export const collapsed = keptSet("collapsed");
/** Processes that had ended by this time are under "Ended" only. */
const cleared = kept("cleared", "");

const isCleared = ({ ended_at }: ProcessItem): boolean => ended_at !== null && ended_at <= cleared.value;
const toClear = computed(() => newestFirst.value.filter((process) => process.ended_at !== null && !isCleared(process)));
export const canClear = computed(() => filter.value === "all" && toClear.value.length > 0);

export function clearEnded(): void {
	cleared.value = toClear.value.reduce((last, { ended_at }) => (ended_at !== null && ended_at > last ? ended_at : last), cleared.value);
}

const matches = (process: ProcessItem, wanted: string): boolean =>
	[process.name ?? "", process.command, process.session_id, process.task, process.place, process.cwd, process.last_line].some((field) =>
		field.toLowerCase().includes(wanted),
	);

const fits = (process: ProcessItem): boolean => {
	if (filter.value === "all") return !isCleared(process) || pinned.has(process.session_id);
	return isRunning(process) === (filter.value === "running");
};

const shown = computed(() => {
	const wanted = text.value.trim().toLowerCase();
	return newestFirst.value.filter((process) => fits(process) && (!wanted || matches(process, wanted)));
});

export interface Group {
	readonly key: string;
	readonly title: string;
	readonly beside: string;
	readonly items: readonly ProcessItem[];
	readonly loud?: boolean;
	/** The task whose transcript is linked beside the title. */
	readonly taskOf?: string;
}

export const groups = computed<readonly Group[]>(() => {
	const waits = waiting.value.filter((process) => shown.value.includes(process));
	const others = shown.value.filter((process) => !isWaiting(process));
	const pins = runningFirst(others.filter(({ session_id }) => pinned.has(session_id)));
	const rest = Map.groupBy(
		others.filter(({ session_id }) => !pinned.has(session_id)),
		({ task, place }) => (grouping.value === "place" ? place : `${task}\0${place}`),
	);
	return [
		...(waits.length > 0 ? [{ key: "\0waits", title: "Waits for input", beside: String(waits.length), items: waits, loud: true }] : []),
		...(pins.length > 0 ? [{ key: "\0pins", title: "Pinned", beside: String(pins.length), items: pins }] : []),
		...[...rest].map(([key, items]) => {
			const [title = "", place = ""] = key.split("\0");
			return { key, title, beside: place, items: runningFirst(items), ...(grouping.value === "place" ? {} : { taskOf: title }) };
		}),
	];
});

const runningFirst = (items: readonly ProcessItem[]): ProcessItem[] => [...items.filter(isRunning), ...items.filter((process) => !isRunning(process))];
