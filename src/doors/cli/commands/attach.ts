import { HoldfastError } from "../../../base/errors.js";
import type { Process } from "../../../process/process.js";
import { isOver } from "../../../process/status.js";
import { type CommandBody, EXIT, oneWord } from "../command.js";
import { PATIENCE_MS, tellOfReach } from "../look.js";
import { feed, session } from "../session.js";
import { writeOut } from "../stream.js";
import { startOfLastLines } from "./logs.js";

export const attach: CommandBody = {
	name: "attach",
	usage: "ID [--read-only]",
	options: { "read-only": { type: "boolean", help: "only look: send no keys, and leave the size of its terminal alone" } },
	teach: `
Ctrl-] detaches; the process goes on. Several people can be attached at once; each sees everything, and the size is that
of the one who attached or resized last. Your first keystroke takes the keyboard: until you detach, agent input is refused,
and the agent is told when you leave. A process without a terminal of its own shows its last lines and takes whole lines;
there Ctrl-C detaches, and Ctrl-D ends its input.

Exit code: the process's own when it ended meanwhile, 0 after detaching.

Example
  holdfast attach 6ee4`,
	async run(call) {
		if (call.out.json) throw new HoldfastError("INVALID", "attach is for people; use `holdfast logs --follow --json` and `holdfast write`");
		const runtime = await call.runtime();
		const process_ = await reached(runtime.get(oneWord(call, "the id of one process")));
		if (isOver(process_.status())) throw new HoldfastError("ENDED", `${process_.id} has ended; \`holdfast logs ${process_.id}\` shows its output`);
		if (process_.spec.terminal) {
			if (!process.stdin.isTTY || !process.stdout.isTTY)
				throw new HoldfastError("NO_TERMINAL", "attach needs a terminal on both sides; use `holdfast logs --follow` and `holdfast write` in scripts");
			if ((await session(process_, { out: call.out, keyboardIn: runtime.home, readOnly: call.values["read-only"] === true })) === "detached") return EXIT.ok;
		} else {
			const readOnly = call.values["read-only"] === true;
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
			if (leave.signal.aborted) {
				call.out.note(`\ndetached; ${process_.id} goes on`);
				return EXIT.ok;
			}
		}
		const status = process_.status();
		return "exitCode" in status && status.exitCode !== null ? status.exitCode : EXIT.failed;
	},
};

/** There is nothing to attach to where nobody answers. */
async function reached(process_: Process): Promise<Process> {
	const note = await process_.sync(undefined, PATIENCE_MS);
	if (note !== undefined) throw new HoldfastError("UNREACHABLE", `${note} \`holdfast logs ${process_.id}\` shows what is known`);
	return process_;
}
