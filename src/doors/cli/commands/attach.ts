import { HoldfastError, keptProcesses, REMOTE_MS } from "../../../base/index.js";
import { isOver, type Process, processCalled } from "../../../process/index.js";
import { canAsk, question } from "../ask.js";
import { type CliCall, type CommandBody, EXIT, oneWord } from "../command.js";
import { namesOf, tellOfReach } from "../look.js";
import { oneLine } from "../output.js";
import { feed, session } from "../session.js";
import { writeOut } from "../stream.js";
import { idCell, listed, statusCell } from "../waits.js";
import { startOfLastLines } from "./logs.js";

export const attach: CommandBody = {
	name: "attach",
	usage: "[ID] [--read-only]",
	options: { "read-only": { type: "boolean", help: "only look: send no keys, and leave the size of its terminal alone" } },
	teach: `
Without an ID: the only process that runs on a terminal; if there are several, they are listed and you choose one.
Ctrl-] detaches; the process goes on. Several people can be attached at once; each sees everything, and the size is that
of the one who attached or resized last. Your first keystroke takes the keyboard: until you detach, agent input is refused,
and the agent is told when you leave. A process without a terminal of its own shows its last lines and takes whole lines;
there Ctrl-C detaches, and Ctrl-D ends its input.

Exit code: the process's own when it ended meanwhile, 0 after detaching.

Examples
  holdfast attach
  holdfast attach 6ee4
  holdfast attach web --read-only`,
	async run(call) {
		if (call.out.json) throw new HoldfastError("INVALID", "attach is for people; use `holdfast logs --follow --json` and `holdfast write`");
		const process_ = call.words.length === 0 ? await choose(call) : processCalled(await call.runtime(), oneWord(call, "the id of one process"), namesOf(call));
		return attachTo(call, process_, { readOnly: call.values["read-only"] === true });
	},
};

/** Puts this terminal on a process, until the person leaves it or it ends. Returns the exit code. */
export async function attachTo(call: CliCall, process_: Process, { readOnly = false }: { readOnly?: boolean } = {}): Promise<number> {
	if (keptProcesses().includes(process_.id))
		throw new HoldfastError("INVALID", `this terminal is ${process_.id} itself, and would show its own output without end; attach from another terminal`);
	await reached(process_);
	if (isOver(process_.status())) throw new HoldfastError("ENDED", `${process_.id} has ended; \`holdfast logs ${process_.id}\` shows its output`);
	if (process_.spec.terminal) {
		if (!process.stdin.isTTY || !process.stdout.isTTY)
			throw new HoldfastError("NO_TERMINAL", "attach needs a terminal on both sides; use `holdfast logs --follow` and `holdfast write` in scripts");
		const { home } = await call.runtime();
		if ((await session(process_, { out: call.out, keyboardIn: home, readOnly })) === "detached") return EXIT.ok;
	} else if (!(await followLines(call, process_, readOnly))) return EXIT.ok;
	const status = process_.status();
	return "exitCode" in status && status.exitCode !== null ? status.exitCode : EXIT.failed;
}

/** Connects a person to a process without a terminal: lines in, output out. Returns false when the person has left. */
async function followLines(call: CliCall, process_: Process, readOnly: boolean): Promise<boolean> {
	call.out.note(`attached to ${process_.id}, which has no terminal: ${readOnly ? "" : "lines you type go to its stdin; "}Ctrl-C detaches`);
	const leave = new AbortController();
	const onInterrupt = () => leave.abort();
	process.once("SIGINT", onInterrupt);
	const stopFeeding = readOnly ? () => {} : feed(process_, call.out.remark.bind(call.out));
	const untell = tellOfReach(call, process_);
	try {
		for await (const slice of process_.follow({ from: startOfLastLines(process_, 20), signal: leave.signal })) await writeOut(slice.bytes);
	} finally {
		stopFeeding();
		untell();
		process.off("SIGINT", onInterrupt);
	}
	if (leave.signal.aborted) call.out.note(`\ndetached; ${process_.id} goes on`);
	return !leave.signal.aborted;
}

/** The only one on a terminal, or the only one; else the person says which. */
async function choose(call: CliCall): Promise<Process> {
	const runtime = await call.runtime();
	const within = keptProcesses();
	const running = runtime.list({ task: namesOf(call).task ?? null, ended: false }).filter(({ id }) => !within.includes(id));
	const onTerminals = running.filter(({ spec }) => spec.terminal !== undefined);
	const all = onTerminals.length > 0 ? onTerminals : running;
	if (!all[0]) throw new HoldfastError("NOT_FOUND", "nothing runs that this terminal could be put on; `holdfast shell` starts a shell");
	if (all.length === 1) return all[0];
	const items = await listed(all);
	if (!canAsk())
		throw new HoldfastError("INVALID", `say which of the ${items.length} that run: ${items.map(({ session_id, name }) => name ?? session_id).join(", ")}`);
	call.out.table(
		["", "ID", "TASK", "STATUS", "COMMAND"],
		items.map((item, index) => [
			String(index + 1),
			idCell(item, call.out),
			oneLine(item.task, 16),
			statusCell(item, call.out),
			oneLine(item.name ? `${item.name}: ${item.command}` : item.command, 200),
		]),
		{ drop: ["TASK", "STATUS"] },
	);
	const answer = await question(`Which one? [1-${items.length}, Enter for none] `);
	const chosen = all[Number(answer) - 1];
	if (chosen) return chosen;
	throw new HoldfastError("INVALID", answer?.trim() ? `there is no number ${oneLine(answer, 20)} in the list` : "none was chosen");
}

/** A machine that does not answer has nothing to attach to. */
async function reached(process_: Process): Promise<void> {
	const note = await process_.sync(undefined, REMOTE_MS.person);
	if (note !== undefined) throw new HoldfastError("UNREACHABLE", `${note} \`holdfast logs ${process_.id}\` shows what is known`);
}
