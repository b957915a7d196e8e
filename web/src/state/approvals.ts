/** Questions of agents that wait for a person. */
import { computed, signal } from "@preact/signals";
import { get, post } from "../api/client.js";
import { messageOf } from "../ui/said.js";

export type Choice = "once" | "task" | "always" | "no";

export interface Approval {
	readonly id: string;
	readonly task: string;
	readonly command: string;
	readonly cwd: string;
	readonly place: string;
	/** What is risky in it: `start` and `end` are bytes of the command in UTF-8. */
	readonly parts: readonly { readonly start: number; readonly end: number; readonly rule: string; readonly reason: string }[];
	readonly choices: readonly Choice[];
	readonly state: "pending" | "answered" | "expired" | "withdrawn";
	readonly created_at: string;
	readonly expires_at: string;
	readonly waiting: boolean;
	readonly answer?: Choice;
	readonly by?: string;
	readonly message?: string;
}

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
