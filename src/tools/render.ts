/** Renders a result as text, for doors that carry only text: status, output, notes. */
import { counted, HoldfastError } from "../base/index.js";
import type { ProcessResult, TerminalResult, ToolResult } from "./result.js";

type Fields = Partial<Omit<TerminalResult & ProcessResult, "status" | "total_lines" | "truncated">> & { status?: string | undefined };

export function renderResult(result: ToolResult): string {
	if (typeof result !== "object" || result === null) throw new HoldfastError("INVALID", `renderResult: it takes a result of a tool, not ${String(result)}`);
	return [statusLine(result), body(result), ...remarks(result)].filter((part) => part !== "").join("\n");
}

/** Returns, for example, `[exited, exit code 1, proc_0123456789ab]`. */
function statusLine(result: Fields): string {
	const { exit_code, pid, bytes_written, matched, survivors, signalled } = result;
	const runs = result.status === "running" || result.status === "awaiting_input";
	const words = [
		result.status,
		typeof exit_code === "number" && `exit code ${exit_code}`,
		result.signal,
		result.limit && `limit ${result.limit.name}`,
		result.waiting_for && `waits for ${WAITS[result.waiting_for]}`,
		matched && matched !== "exit" && matched !== "input" && `${matched} held`,
		result.timed_out && "timed out",
		bytes_written !== undefined && `${counted(bytes_written, "byte")} written`,
		signalled && signalled.length > 0 && `${signalled.length} signalled`,
		survivors && survivors.length > 0 && `survivors ${survivors.join(" ")}`,
		result.outcome,
		result.rule && `rule ${result.rule}`,
		result.approval_id,
		result.session_id,
		runs && typeof pid === "number" && `pid ${pid}`,
		result.showing,
	].filter((word) => typeof word === "string" && word !== "");
	return words.length === 0 ? "" : `[${words.join(", ")}]`;
}

const WAITS = { line: "a line", password: "a password", keys: "keys", idle: "input, as far as silence tells" } as const;

function body(result: Fields): string {
	if (result.processes) return result.processes.map(listLine).join("\n");
	return `${result.output ?? ""}${result.screen ?? ""}`.trimEnd(); // output that has scrolled off the screen, then the screen
}

function listLine(item: NonNullable<ProcessResult["processes"]>[number]): string {
	const end = item.signal ?? (item.exit_code === null ? "" : `exit code ${item.exit_code}`);
	const how = [item.status, end, `${item.uptime_seconds} s`, item.status === "running" ? `pid ${item.pid}` : "", item.pty ? "pty" : "", item.note ?? ""];
	const command = (item.name ? `${item.name}: ${item.command}` : item.command).replaceAll(/\s+/g, " ").slice(0, 200);
	return `${item.session_id} [${how.filter(Boolean).join(", ")}] ${command}`;
}

function remarks(result: ToolResult): string[] {
	const lines = Object.entries(result)
		.filter(([name, value]) => (name === "note" || name.endsWith("_note")) && typeof value === "string")
		.flatMap(([, value]) => (value as string).split("\n").map((note) => `Note: ${note}`));
	if (result.error) lines.unshift(`Error: ${result.error}`);
	for (const notice of result.notices ?? []) lines.push(`Notice: ${notice.text}`);
	return lines;
}
