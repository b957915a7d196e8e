/** Questions of agents that wait for a person. */
import { computed, signal } from "@preact/signals";
import type { Approval } from "../../../src/doors/http/schemas.js";
import { get, post } from "../api/client.js";
import { messageOf } from "../ui/said.js";

export type Choice = Approval["choices"][number];

export const approvals = signal<readonly Approval[]>([]);
export const approvalsFailed = signal("");
export const pending = computed(() => approvals.value.filter(({ state }) => state === "pending"));

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
