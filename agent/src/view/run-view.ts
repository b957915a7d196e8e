/** Reads the page's view of a run and of one episode from the run's files. */
import fs from "node:fs";
import path from "node:path";
import type { Runtime } from "holdfast";
import { AgentError, openAgentHome, readIfThere } from "../base/index.js";
import { numbersOf, numbersText, rewardOf } from "../report/index.js";
import {
	attemptFolder,
	attemptName,
	isClean,
	type LedgerRow,
	ledgerFile,
	type Proof,
	placeName,
	proofWords,
	type RunItem,
	type RunProgress,
	readLedger,
	readProgress,
	readRequests,
	readRun,
	runnerOf,
} from "../run/index.js";
import { type Entry, Log, lastSession } from "../talk/index.js";
import type { CommandView, EpisodeCell, EpisodeState, EpisodeView, RunView, StepView } from "./messages.js";

const OUTPUT_BYTES = 4 * 1024;
const TEXT_CHARS = 8_000;
const FILE_BYTES = 64 * 1024;
const MOST_FILES = 40;
const MOST_COMMANDS = 2_000;

/** Changes with whatever the page shows of the run. */
export function versionOf(dir: string): string {
	const size = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
	return [size(ledgerFile(dir)), size(path.join(dir, "requests.jsonl")), size(path.join(dir, "proof.json")), runnerOf(dir)?.pid ?? 0].join(".");
}

export function runView(dir: string): RunView {
	const version = versionOf(dir);
	const { manifest, items } = readRun(dir);
	const progress = readProgress(dir);
	const runner = runnerOf(dir)?.pid ?? null;
	const numbers = numbersOf(items, progress);
	const places = (manifest.pool ?? [manifest]).map(({ place }) => placeName(place));
	const proof = runner === null ? proofIn(dir) : undefined;
	return {
		...{ version, runner, done: numbers.done, numbers: numbersText(numbers), paused: readRequests(dir).paused },
		name: `${manifest.model || manifest.agent} on ${path.basename(manifest.source)}`,
		facts: [manifest.id, ...places, manifest.created_at],
		cells: items.map((item) => cellOf(item, progress, runner !== null)),
		proof: proof ? proofWords(proof) : null,
		clean: proof !== undefined && isClean(proof),
	};
}

function proofIn(dir: string): Proof | undefined {
	const text = readIfThere(path.join(dir, "proof.json"));
	return text === undefined ? undefined : (JSON.parse(text.toString("utf8")) as Proof);
}

function cellOf({ index, key, digest, repeat }: RunItem, { results, open, attempts }: RunProgress, isRunning: boolean): EpisodeCell {
	const result = results.get(index);
	const [state, words] = stateOf(result?.outcome, open.has(index), isRunning);
	const outcome = result?.outcome;
	return {
		...{ index, key, digest, repeat, state, words },
		reward: outcome?.kind === "scored" ? rewardOf(outcome) : null,
		attempts: attempts.get(index) ?? 0,
		seconds: result?.seconds ?? null,
		tokens: result ? result.usage.input + result.usage.output : null,
		touched: result?.touched ?? 0,
	};
}

type AnyOutcome = Extract<LedgerRow, { t: "result" }>["outcome"];

function stateOf(outcome: AnyOutcome | undefined, isOpen: boolean, isRunning: boolean): [EpisodeState, string] {
	if (!outcome) return isOpen ? (isRunning ? ["open", "under way"] : ["gone", "its program is gone"]) : ["waits", "waits"];
	if (outcome.kind === "error") return ["error", `error ${outcome.of}/${outcome.code}: ${outcome.words}`];
	if (outcome.kind === "recorded") return ["recorded", `recorded (${outcome.end})`];
	const reward = rewardOf(outcome);
	const { tamperable } = outcome.score;
	return [
		reward === 1 ? "solved" : reward > 0 ? "part" : "failed",
		`${reward} (${outcome.end})${tamperable === undefined ? "" : `; tamperable: ${tamperable}`}`,
	];
}

/** The last attempt, or another one. */
export async function episodeView(dir: string, runtime: Runtime, index: number, wanted: number | undefined): Promise<EpisodeView> {
	const { manifest, items } = readRun(dir);
	const progress = readProgress(dir);
	const item = items[index];
	if (!item) throw new AgentError("NOT_FOUND", `there is no episode ${index}; the run has 0 to ${items.length - 1}`);
	const attempts = progress.attempts.get(index) ?? 0;
	const attempt = wanted ?? Math.max(1, attempts);
	const task = attemptName(manifest, index, attempt);
	const rows = readLedger(dir).filter((row) => row.index === index && row.attempt === attempt);
	const [start, end] = [rows.find(({ t }) => t === "start"), rows.find(({ t }) => t === "result" || t === "failed" || t === "lost")];
	const began = start ? Date.parse(start.at) : undefined;
	const since = (at: string): number => Math.max(0, Date.parse(at) - (began ?? 0));
	const commands = began === undefined ? [] : await commandsOf(runtime, task, since);
	return {
		...{ attempt, task, commands },
		cell: cellOf(item, progress, runnerOf(dir) !== undefined),
		place: start?.t === "start" ? (start.place ?? placeName(manifest.place)) : placeName(manifest.place),
		began: start?.at ?? null,
		length: began === undefined ? 0 : (end ? Date.parse(end.at) : Date.now()) - began,
		steps: stepsOf(dir, task, conversationIn(end), since),
		live: end ? null : (commands.findLast(({ to }) => to === null)?.id ?? null),
		files: filesOf(attemptFolder(dir, index, attempt)),
	};
}

const conversationIn = (end: LedgerRow | undefined): string | undefined =>
	end?.t === "result" || end?.t === "failed" ? (end.conversation ?? undefined) : undefined;

function stepsOf(dir: string, task: string, id: string | undefined, since: (at: string) => number): StepView[] {
	const talk = openAgentHome(path.join(dir, "talk"));
	const conversation = id ?? lastSession(talk, { task })?.id;
	return conversation === undefined ? [] : Log.read(talk, conversation).entries.flatMap((entry) => stepOf(entry, since(entry.at)) ?? []);
}

function stepOf(entry: Entry, at: number): StepView | undefined {
	const plain = { at, calls: [], failed: false };
	switch (entry.t) {
		case "user":
			return { ...plain, kind: "said", text: cut(entry.text) };
		case "assistant":
			return { ...plain, kind: "answer", text: cut(entry.text), calls: entry.calls.map(({ name, args }) => ({ name, args: cut(args) })) };
		case "result":
			return { ...plain, kind: "result", text: cut(entry.text), failed: entry.failed };
		case "notice":
		case "note":
		case "partial":
		case "stopped":
			return { ...plain, kind: "note", text: cut(entry.text) };
		default:
			return undefined;
	}
}

async function commandsOf(runtime: Runtime, task: string, since: (at: string) => number): Promise<CommandView[]> {
	const found: CommandView[] = [];
	for await (const one of runtime.transcript(task)) {
		if (one.command === ":") continue; // the episode's own look at its place
		const { id, command, started_at, ended_at, exit_code, status, pty, bytes } = one;
		const output = one.read(Math.max(0, bytes - OUTPUT_BYTES), OUTPUT_BYTES).bytes.toString("utf8");
		found.push({
			id,
			command: cut(command),
			from: since(started_at),
			to: ended_at === null ? null : since(ended_at),
			exit: exit_code,
			status,
			pty,
			output,
			bytes,
		});
		if (found.length >= MOST_COMMANDS) break;
	}
	return found;
}

function filesOf(folder: string): EpisodeView["files"] {
	if (!fs.existsSync(folder)) return [];
	const names = fs
		.readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
		.filter((file) => path.basename(file) !== "trajectory.json") // it is what the steps show
		.sort();
	return names.slice(0, MOST_FILES).flatMap((file) => {
		const bytes = readHead(file);
		if (bytes.includes(0)) return []; // no text
		return [{ name: path.relative(folder, file), text: bytes.toString("utf8"), cut: fs.statSync(file).size > FILE_BYTES }];
	});
}

function readHead(file: string): Buffer {
	const fd = fs.openSync(file, "r");
	try {
		const bytes = Buffer.alloc(FILE_BYTES);
		return bytes.subarray(0, fs.readSync(fd, bytes, 0, FILE_BYTES, 0));
	} finally {
		fs.closeSync(fd);
	}
}

const cut = (text: string): string => (text.length <= TEXT_CHARS ? text : `${text.slice(0, TEXT_CHARS)}\n… ${text.length - TEXT_CHARS} more characters`);
