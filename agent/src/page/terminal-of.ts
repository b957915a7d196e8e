/** The terminal of a call: the process that it started, or its command in the shell of the conversation. */
import { Log } from "../talk/index.js";
import type { Desk } from "./desk.js";

const ATTEMPTS = 10;

/** Null: it has none, or its log was removed. */
export async function terminalOf(desk: Desk, id: string, call: string): Promise<string | null> {
	const { entries } = Log.read(desk.home, id);
	const result = entries.find((entry) => entry.t === "result" && entry.call === call);
	if (result?.t === "result" && result.process !== undefined) return result.process;
	const [begun] = entries;
	if (begun?.t !== "begun") return null;
	const runtime = await desk.runtime();
	// A call that a person had not allowed yet was made again, with a number behind its id.
	for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
		const found = await runtime.calls.find(begun.task, attempt === 1 ? call : `${call}~${attempt}`);
		if (found.state === "ended" && found.status === "pending_approval") continue;
		return "session_id" in found ? (found.session_id ?? null) : null;
	}
	return null;
}
