/** A result as text, for doors that carry nothing else: first how it stands, then what it printed, then what to know. */
import type { ProcessResult, TerminalResult, ToolResult } from "./result.js";

export function renderResult(result: ToolResult): string {
	const parts = [statusLine(result), body(result), ...remarks(result)];
	return parts.filter((part) => part !== "").join("\n");
}

function statusLine(result: Partial<TerminalResult & ProcessResult>): string {
	const { status, exit_code, signal, session_id, pid } = result;
	const words = [
		status,
		exit_code === null || exit_code === undefined ? "" : `exit code ${exit_code}`,
		signal ?? "",
		session_id ?? "",
		pid === null || pid === undefined || status !== "running" ? "" : `pid ${pid}`,
	];
	const line = words.filter(Boolean).join(", ");
	return line === "" ? "" : `[${line}]`;
}

function body(result: Partial<TerminalResult & ProcessResult>): string {
	if (result.processes) return result.processes.map((item) => `${item.session_id}  ${item.status}  ${item.command}`).join("\n");
	return (result.screen ?? result.output ?? "").trimEnd();
}

function remarks(result: ToolResult): string[] {
	const lines = Object.entries(result)
		.filter(([name, value]) => (name === "note" || name.endsWith("_note")) && typeof value === "string")
		.map(([, value]) => `Note: ${value as string}`);
	if (result.error) lines.unshift(`Error: ${result.error}`);
	for (const notice of result.notices ?? []) lines.push(`Notice: ${notice.text}`);
	return lines;
}
