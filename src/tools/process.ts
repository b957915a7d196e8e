/** The tool `process`: one function per action. */
import { HoldfastError, REMOTE_MS } from "../base/index.js";
import type { Process } from "../process/index.js";
import { parseArguments } from "./arguments.js";
import { type Ask, answer } from "./ask.js";
import type { Call } from "./call.js";
import { findProcess } from "./find.js";
import type { ToolHost } from "./host.js";
import { type Action, type ProcessArgs, processInput } from "./input.js";
import { heedKeyboard } from "./keyboard.js";
import { list } from "./list.js";
import { log } from "./log.js";
import { poll } from "./poll.js";
import type { ProcessResult } from "./result.js";
import { close, keys, kill, resize, screen, signal, submit, write } from "./steer.js";
import { wait } from "./wait.js";

const ACTS: Readonly<Record<Exclude<Action, "list">, (ask: Ask, process: Process, args: ProcessArgs) => Promise<ProcessResult>>> = {
	poll,
	log,
	wait,
	kill,
	write,
	submit,
	close,
	keys,
	screen,
	resize,
	signal,
};

/** The parameters of each action. A note names any others as unused. */
const TAKES: Readonly<Record<Action, readonly (keyof ProcessArgs)[]>> = {
	list: [],
	poll: ["byte_offset"],
	log: ["offset", "limit", "byte_offset"],
	wait: ["timeout", "until", "byte_offset"],
	kill: [],
	write: ["data"],
	submit: ["data"],
	close: [],
	keys: ["data", "timeout"],
	screen: [],
	resize: ["cols", "rows"],
	signal: ["signal"],
};

export function process(runtime: ToolHost, args: unknown, call: Call): Promise<ProcessResult> {
	return answer<ProcessResult>(
		runtime,
		call,
		async (ask) => {
			if (call.user !== undefined)
				throw new HoldfastError("INVALID", "nothing was done: process takes no user, since a process keeps the one that it was started as; leave it out");
			const { wanted } = parseArguments("process", processInput, args, ask.notes);
			noteUnused(ask, wanted);
			if (wanted.action === "list") {
				ask.runtime.home.secrets.maskAgain(); // the list covers every place
				return list(ask);
			}
			const found = findProcess(ask, wanted.session_id);
			const unreached = await found.sync(ask.signal, REMOTE_MS.call);
			heedKeyboard(ask, found, wanted.action);
			if (wanted.action !== "kill") runtime.answerFor(found);
			const release = TELLING.includes(wanted.action) ? runtime.notices.hold(found) : () => {};
			let told = false;
			try {
				const result = await ACTS[wanted.action](ask, found, wanted);
				told = tellsOfTheEnd(result) && !call.signal?.aborted && !call.gone?.();
				return result;
			} finally {
				release(told);
				if (unreached !== undefined && found.unreachable !== undefined) ask.notes.push(unreached); // still unreachable
			}
		},
		{ tool: "process" },
	);
}

function noteUnused(ask: Ask, { action, session_id, ...given }: ProcessArgs): void {
	const unused = Object.keys(given).filter((name) => !TAKES[action].includes(name as keyof ProcessArgs));
	if (action === "list" && session_id !== undefined) unused.unshift("session_id");
	if (unused.length > 0) ask.notes.push(`${unused.join(", ")}: not used by action="${action}".`);
}

/** A caller that learns of the end from one of these actions needs no notice of it. A poll does not count. */
const TELLING: readonly Action[] = ["wait", "log", "kill"];

const tellsOfTheEnd = ({ status }: ProcessResult): boolean => status === "exited" || status === "killed" || status === "lost" || status === "already_exited";
