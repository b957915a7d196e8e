/** All processes as the server has last told, and what wants attention. */
import { computed, signal } from "@preact/signals";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";

export const processes = signal<ReadonlyMap<string, ProcessItem>>(new Map());
/** false: not told yet, so that nothing is called empty before it is known to be. */
export const known = signal(false);

/** Changes since the list was last shown: many at once change it once. */
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
/** Asks for a line or a password. A shell at its prompt or an editor takes keys too, but asks nothing. */
const asks = ({ status, waiting_for, last_line }: ProcessItem): boolean =>
	status === "awaiting_input" && (waiting_for === "password" || (waiting_for === "line" && !PROMPT.test(last_line)));
/** Returns whether a process waits for input while no person has its keyboard. */
export const isWaiting = (process: ProcessItem): boolean => process.keyboard === null && asks(process);

/** The prompt of a shell without line editing, which reads whole lines: `$`, `root@host:/#`. */
const PROMPT = /^(\S*[@:~/]\S*\s?)?[$#]$/;

const byStart = (a: ProcessItem, b: ProcessItem): number => (a.started_at < b.started_at ? 1 : a.started_at > b.started_at ? -1 : 0);
export const newestFirst = computed(() => [...processes.value.values()].filter(({ kind }) => kind !== "shell").sort(byStart));
export const waiting = computed(() => newestFirst.value.filter(isWaiting));

export const nameOf = ({ name, command }: Pick<ProcessItem, "name" | "command">): string => name || command.split("\n", 1)[0] || command;

/** How it is, in words. */
export function statusWords(process: ProcessItem): string {
	const { status, exit_code, signal: by, waiting_for } = process;
	switch (status) {
		case "running":
			return "running";
		case "awaiting_input":
			if (waiting_for === "password") return "waits for a password";
			return asks(process) ? "waits for a line" : "idle";
		case "exited":
			return by ? `ended by ${by}` : `exit ${exit_code}`;
		case "killed":
			return by ? `killed (${by})` : "killed";
		case "lost":
			return "lost: its end was not seen";
		case "error":
			return "never started";
	}
}

/** Names are handles on the command line: no two that run should have the same. */
export function freeName(name: string): string {
	const taken = new Set([...processes.value.values()].filter(isRunning).map((process) => process.name));
	let free = name;
	for (let count = 2; taken.has(free); count++) free = `${name}-${count}`;
	return free;
}
