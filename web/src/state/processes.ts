/** All processes as the server has last told, and what wants attention. */
import { computed, signal } from "@preact/signals";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";

export const processes = signal<ReadonlyMap<string, ProcessItem>>(new Map());
/** false: not told yet, so that nothing is called empty before it is known to be. */
export const known = signal(false);

/** What has come since the list was last shown: many at once change it once. */
const news = new Map<string, ProcessItem | undefined>();
const SHOWN_MS = 100;
let timer = 0;

function take(id: string, process: ProcessItem | undefined): void {
	news.set(id, process);
	if (timer === 0)
		timer = setTimeout(() => {
			timer = 0;
			const next = new Map(processes.value);
			for (const [each, item] of news) {
				if (item) next.set(each, item);
				else next.delete(each);
			}
			news.clear();
			processes.value = next;
		}, SHOWN_MS);
}

export function takeAll(list: readonly ProcessItem[]): void {
	news.clear();
	processes.value = new Map(list.map((process) => [process.session_id, process]));
	known.value = true;
}

export const takeOne = (process: ProcessItem): void => take(process.session_id, process);
export const dropOne = (id: string): void => take(id, undefined);

export const isRunning = ({ status }: ProcessItem): boolean => status === "running" || status === "awaiting_input";
/** Waits for somebody, and nobody is at it. "idle" is only a guess, and no cause for alarm. */
export const isWaiting = ({ status, waiting_for, keyboard }: ProcessItem): boolean =>
	status === "awaiting_input" && waiting_for !== "idle" && keyboard === null;

const byStart = (a: ProcessItem, b: ProcessItem): number => (a.started_at < b.started_at ? 1 : a.started_at > b.started_at ? -1 : 0);
export const newestFirst = computed(() => [...processes.value.values()].filter(({ kind }) => kind !== "shell").sort(byStart));
/** Who asks something comes before who only shows a screen and takes keys. */
export const waiting = computed(() => {
	const all = newestFirst.value.filter(isWaiting);
	return [...all.filter(({ waiting_for }) => waiting_for !== "keys"), ...all.filter(({ waiting_for }) => waiting_for === "keys")];
});

export const nameOf = ({ name, command }: Pick<ProcessItem, "name" | "command">): string => name || command.split("\n", 1)[0] || command;

/** How it is, in words. */
export function statusWords(process: ProcessItem): string {
	const { status, exit_code, signal: by, waiting_for } = process;
	switch (status) {
		case "running":
			return "running";
		case "awaiting_input":
			return { line: "waits for a line", password: "waits for a password", keys: "waits for keys", idle: "seems to wait" }[waiting_for ?? "idle"];
		case "exited":
			return by ? `ended by ${by}` : `exit ${exit_code}`;
		case "killed":
			return by ? `killed (${by})` : "killed";
		case "lost":
			return "lost: nobody saw its end";
		case "error":
			return "never started";
	}
}
