/** From opening the page to living on the server's events. */
import { signal } from "@preact/signals";
import type { ProcessItem, Session } from "../../../src/doors/http/schemas.js";
import { login, openKeyboardLink, session as readSession } from "../api/calls.js";
import { ApiError } from "../api/client.js";
import { fromAddress, isStranger, keepKey, keepView, lock, welcome } from "../api/credentials.js";
import { link, listen } from "../api/events.js";
import { lookForApprovals } from "./approvals.js";
import { dropOne, takeAll, takeOne } from "./processes.js";
import { heardOfTask } from "./task-log.js";

export const session = signal<Session | undefined>(undefined);
/** Why the link did not open anything. */
export const refusal = signal("");

const RETRY_MS = 1_000;

export async function start(): Promise<void> {
	const { token, keys } = fromAddress();
	if (token) await enter(async () => keepKey((await login(token)).key));
	if (keys) await enter(async () => keepView((await openKeyboardLink(keys)).secret));
	if (welcome.value && isStranger()) lock();
	if (!welcome.value) return;
	const found = await whoAmI();
	if (!found) return;
	session.value = found;
	if (found.scope === "owner") void listen(heard);
	else link.value = "live"; // one terminal, and its own connection says how that is
}

/** Until the server has answered. What it refuses is said in its own words. */
async function enter(open: () => Promise<void>): Promise<void> {
	for (;;) {
		try {
			return await open();
		} catch (error) {
			if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
				refusal.value = error.message;
				return lock();
			}
			link.value = "lost";
			await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
		}
	}
}

/** undefined: not signed in. While the server does not answer at all, the page retries. */
async function whoAmI(): Promise<Session | undefined> {
	for (;;) {
		try {
			return await readSession();
		} catch (error) {
			if (!welcome.value) {
				refusal.value ||= error instanceof Error ? error.message : "";
				return undefined;
			}
			link.value = "lost";
			await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
		}
	}
}

function heard(event: string, data: unknown): void {
	if (event === "snapshot") {
		takeAll((data as { processes: ProcessItem[] }).processes);
		void lookForApprovals();
		heardOfTask(undefined);
	} else if (event === "process") takeOne(data as ProcessItem);
	else if (event === "gone") dropOne((data as { session_id: string }).session_id);
	else if (event === "approvals") void lookForApprovals();
	else if (event === "log") heardOfTask((data as { task: string }).task);
}
