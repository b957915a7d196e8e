/** A digest of a conversation's running work in a few lines: for the system prompt, and always in view after a summary. */
import type { Process, Runtime } from "holdfast";
import type { Entry } from "../talk/index.js";
import { parseArguments } from "./arguments.js";

const MOST = 20; // of each kind
const COMMAND_CHARS = 100;

export interface DigestSource {
	readonly runtime: Runtime;
	readonly task: string;
	readonly entries: readonly Entry[];
	readonly now: () => number;
}

/** Empty if nothing is. */
export function digest(source: DigestSource): string {
	const parts = [
		list("Running processes", runningProcesses(source)),
		list("Open questions to the user", openQuestions(source)),
		list("Files changed in this conversation", changedFiles(source.entries)),
	];
	return parts.filter((part) => part !== "").join("\n");
}

function list(title: string, lines: readonly string[]): string {
	if (lines.length === 0) return "";
	const more = lines.length > MOST ? [`- … and ${lines.length - MOST} more`] : [];
	return [`${title}:`, ...lines.slice(0, MOST).map((line) => `- ${line}`), ...more].join("\n");
}

export function runningProcesses({ runtime, task, now }: DigestSource): string[] {
	return runtime
		.list({ task, ended: false })
		.filter((process) => process.status().status === "running")
		.map((process) => describe(process, now()));
}

function describe({ id, spec }: Process, now: number): string {
	const command = spec.command.replaceAll(/\s+/g, " ").slice(0, COMMAND_CHARS);
	return `${id} ${spec.name ? `${spec.name}: ` : ""}${command} (${age(now - spec.startedAt)}${spec.terminal ? ", on a terminal" : ""})`;
}

export function age(ms: number): string {
	const seconds = Math.max(0, Math.round(ms / 1_000));
	if (seconds < 120) return `${seconds} s`;
	if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
	return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export function openQuestions({ runtime, task }: DigestSource): string[] {
	return runtime.approvals.list({ task }).map(({ id, command }) => `${id}: may this run? ${command.replaceAll(/\s+/g, " ").slice(0, COMMAND_CHARS)}`);
}

/** By the tools for files; what commands have changed is not known. */
export function changedFiles(entries: readonly Entry[]): string[] {
	const paths = new Set<string>();
	const calls = new Map(entries.flatMap((entry) => (entry.t === "assistant" ? entry.calls.map((call) => [call.id, call] as const) : [])));
	for (const entry of entries) {
		if (entry.t !== "result" || entry.failed || entry.how === "skipped") continue;
		const call = calls.get(entry.call);
		if (call?.name !== "write_file" && call?.name !== "patch") continue;
		for (const path of pathsIn(call.args)) {
			paths.delete(path); // the last changed ones come last
			paths.add(path);
		}
	}
	return [...paths].reverse();
}

function pathsIn(args: string): string[] {
	const parsed = parseArguments(args);
	if ("problem" in parsed || typeof parsed.value !== "object" || parsed.value === null) return [];
	const { path, diff } = parsed.value as { path?: unknown; diff?: unknown };
	if (typeof path === "string") return [path];
	return typeof diff === "string" ? [...diff.matchAll(/^\+\+\+ (?:b\/)?([^\t\n]+)/gm)].map(([, file]) => (file as string).trim()) : [];
}
