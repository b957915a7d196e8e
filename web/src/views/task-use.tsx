/** The resource use of each task in words: processor, memory, time, output, its limits, and its client. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visible } from "../../../src/base/text.js";
import type { TaskItem } from "../../../src/doors/http/schemas.js";
import { tasks } from "../api/calls.js";
import { bytes, clock, duration } from "../ui/format.js";

const EVERY_MS = 4_000;
export const taskItems = signal<ReadonlyMap<string, TaskItem>>(new Map());

/** Looks every few seconds for as long as the component is shown. */
export function useTaskUse(): void {
	useEffect(() => {
		const look = () => {
			if (document.hidden) return;
			tasks().then(
				({ tasks: all }) => {
					taskItems.value = new Map(all.map((item) => [item.task, item]));
				},
				() => {}, // the banner says that the server is away
			);
		};
		look();
		const timer = setInterval(look, EVERY_MS);
		return () => clearInterval(timer);
	}, []);
}

export function TaskUseLine({ task }: { task: string }) {
	const item = taskItems.value.get(task);
	if (!item) return null;
	const { use } = item;
	const facts = [
		...(item.client === null ? [] : [clientWords(item)]),
		...(use.processes > 0 ? [`${Math.round(use.cpu_percent)}% of a core`, bytes(use.memory_bytes), counted(use.processes)] : []),
		`ran ${duration(use.seconds)} in all`,
		`printed ${bytes(use.printed_bytes)}`,
	];
	return (
		<p class="use-line num quiet">
			<span>{facts.join(" · ")}</span>
			{use.limits.map(({ name, of, words, met }) => (
				<span key={`${of} ${name}`} class={met ? "limit met" : "limit"}>
					{name.replaceAll("_", " ")} {words} {WHOSE[of]}
					{met && ": met"}
				</span>
			))}
		</p>
	);
}

/** `claude-code 2.1.0, gone since 14:03`. */
export function clientWords({ client, client_name, client_version, silent_since, gone_since }: TaskItem): string {
	const name = visible([client_name ?? "a client", client_version ?? ""].join(" ").trim());
	const since = silent_since ?? gone_since;
	return `${name}, ${client}${since === null ? "" : ` since ${clock(since)}`}`;
}

const counted = (count: number): string => `${count} ${count === 1 ? "process" : "processes"}`;
const WHOSE = { process: "each", task: "together", machine: "on this machine" } as const;
