/** The entries of a task as they come: the newest first of all, earlier ones when asked for, and what is new or has changed when the server says so. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TaskLogEntry } from "../../../src/doors/http/schemas.js";
import { taskLog } from "../api/calls.js";
import { ApiError } from "../api/client.js";
import { logged } from "../state/task-log.js";
import { tell } from "../ui/toasts.js";

export interface ShownLog {
	readonly entries?: readonly TaskLogEntry[];
	readonly earlier: boolean;
	readonly error?: unknown;
	readonly showEarlier: () => void;
}

interface Got {
	readonly entries?: readonly TaskLogEntry[];
	readonly earlier: boolean;
	readonly error?: unknown;
}

const NOTHING: Got = { earlier: false };
const MOST = 1_000;

export function useTaskLog(task: string, wanted: string): ShownLog {
	const [got, setGot] = useState<Got>(NOTHING);
	const current = useRef<Got>(NOTHING);
	const show = (next: Got): void => {
		current.current = next;
		setGot(next);
	};
	useEffect(() => {
		const controller = new AbortController();
		const { signal } = controller;
		const search = wanted || undefined;
		let [busy, again] = [false, false];
		const look = async (): Promise<void> => {
			again = true;
			if (busy) return;
			busy = true;
			while (again && !signal.aborted) {
				again = false;
				try {
					show(await news(current.current));
				} catch (error) {
					// Without a server the banner says so, and a snapshot follows when it is back.
					if (!signal.aborted && !(error instanceof ApiError && error.code === "UNREACHABLE")) show({ ...current.current, error });
				}
			}
			busy = false;
		};
		/** From the first entry that had not ended. */
		const news = async ({ entries = [], earlier }: Got): Promise<Got> => {
			const running = entries.findIndex(({ status }) => status === "running");
			const kept = entries.slice(0, running < 0 ? entries.length : running);
			const after = kept.at(-1)?.entry_id;
			const page = await taskLog({ task, search, ...(after === undefined ? {} : { after, limit: MOST }) }, signal);
			if (page.later && after !== undefined) again = true;
			return { entries: [...kept, ...page.entries], earlier: after === undefined ? page.earlier : earlier };
		};
		show(NOTHING);
		void look();
		const known = logged.peek(); // which is told at once
		const unsubscribe = logged.subscribe((heard) => {
			if (heard !== known && (heard.task === undefined || heard.task === task)) void look();
		});
		return () => {
			unsubscribe();
			controller.abort();
		};
	}, [task, wanted]);
	const showEarlier = () => {
		const before = got.entries?.[0]?.entry_id;
		if (before === undefined) return;
		const add = async () => {
			const { entries, earlier } = await taskLog({ task, search: wanted || undefined, before });
			const now = current.current;
			if (now.entries?.[0]?.entry_id === before) show({ ...now, entries: [...entries, ...now.entries], earlier });
		};
		tell(add());
	};
	return { ...got, showEarlier };
}
