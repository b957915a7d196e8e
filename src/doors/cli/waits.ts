/** Processes with what they wait for, for lists that a person reads. */
import { counted, soon } from "../../base/index.js";
import { type Process, type Summary, summary } from "../../process/index.js";
import type { WaitingFor } from "../../screen/index.js";
import type { Output } from "./output.js";

export interface Listed extends Summary {
	/** The input that a program on a terminal waits for; null: none, or it is unknown. */
	readonly waiting_for: WaitingFor | null;
}

export const listed = (processes: readonly Process[]): Promise<Listed[]> =>
	Promise.all(processes.map(async (process) => ({ ...summary(process), waiting_for: await waitsFor(process) })));

async function waitsFor(process: Process): Promise<WaitingFor | null> {
	if (!process.spec.terminal || process.unreachable !== undefined || process.status().status !== "running") return null;
	const { waitingFor } = await import("../../screen/waiting.js"); // not the whole room: a list renders no screen
	const found = await soon(waitingFor(process), { waiting: false as const }); // or it has just ended
	return found.waiting ? found.waiting_for : null;
}

/** The program asks a person something. A shell or an editor that waits for its next key does not. */
export const isAsking = ({ waiting_for }: Listed): boolean => waiting_for === "line" || waiting_for === "password";

export function statusCell(item: Summary & { readonly waiting_for?: WaitingFor | null }, out: Output): string {
	const { status, waiting_for = null } = item;
	if (status === "running" && waiting_for !== null) {
		const asks = waiting_for === "line" || waiting_for === "password";
		return out.style(asks ? "yellow" : "green", waiting_for === "idle" ? "idle" : `waits: ${waiting_for}`);
	}
	const ending = item.limit && status === "killed" ? item.limit.name : (item.signal ?? (item.exit_code === null ? "" : String(item.exit_code)));
	const again = item.restarts ? ` (${counted(item.restarts, "restart")})` : "";
	const text = status === "running" ? `${item.note?.startsWith("paused") ? "paused" : "running"}${again}` : `${status}${ending ? ` ${ending}` : ""}${again}`;
	return out.style(status === "running" ? "green" : item.exit_code === 0 ? "dim" : "red", text);
}

/** On a narrow terminal the first digits, which every command takes. */
export const idCell = ({ session_id }: Summary, out: Output): string => (out.columns < 60 ? session_id.slice(5, 11) : session_id);

export function age(seconds: number): string {
	if (seconds < 120) return `${seconds}s`;
	if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
	if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
	return `${Math.floor(seconds / 86_400)}d`;
}
