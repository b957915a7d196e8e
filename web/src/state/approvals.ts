/** Questions of agents that wait for a person. */
import { computed, signal } from "@preact/signals";
import type { Approval } from "../../../src/doors/http/schemas.js";
import { get, post } from "../api/client.js";
import { messageOf } from "../ui/said.js";

export type Choice = Approval["choices"][number];

export const approvals = signal<readonly Approval[]>([]);
export const approvalsFailed = signal("");
/** Sorts questions: first those that an agent waits for, the one with the least time left before the others. */
export const pending = computed(() =>
	approvals.value
		.filter(({ state }) => state === "pending")
		.sort((a, b) => Number(b.waiting) - Number(a.waiting) || (a.expires_at < b.expires_at ? -1 : a.expires_at > b.expires_at ? 1 : 0)),
);

export async function lookForApprovals(): Promise<void> {
	try {
		approvals.value = (await get<{ approvals: Approval[] }>("/api/approvals")).approvals;
		approvalsFailed.value = "";
	} catch (error) {
		approvalsFailed.value = messageOf(error);
	}
}

export async function answer(id: string, choice: Choice, message: string): Promise<void> {
	await post(`/api/approvals/${encodeURIComponent(id)}`, { answer: choice, ...(message ? { message } : {}) });
	await lookForApprovals();
}

export const WORDS: Record<Choice, string> = { once: "Once", task: "For this task", always: "Always", no: "No" };
export const DONE: Record<Choice, string> = { once: "allowed once", task: "allowed for the task", always: "always allowed", no: "refused" };
export const secondsLeft = ({ expires_at }: Approval, at: number): number => (Date.parse(expires_at) - at) / 1_000;
