import { Audit } from "../../../audit/index.js";
import { counted, HoldfastError } from "../../../base/index.js";
import { describeEnd, killSummary, summary } from "../../../process/index.js";
import { type CommandBody, EXIT } from "../command.js";
import { processOf } from "../look.js";
import { secondsOption } from "../quantity.js";

export const kill: CommandBody = {
	name: "kill",
	usage: "ID… [--grace TIME]",
	options: {
		grace: { type: "string", value: "TIME", help: "how long after TERM to use KILL: 500ms, 10s (default 2s)" },
	},
	teach: `
TERM to the whole tree, a grace, then KILL, then a check that none survived. "killed" means checked and gone; if
any are left their pids are named and the exit code is 1. --json adds the method: cgroup (total), namespace
(total, in a sandbox), subreaper or walk.

Examples
  holdfast kill 3f2a
  holdfast kill 3f2a 9b1c --grace 10`,
	async run(call) {
		if (call.words.length === 0) throw new HoldfastError("INVALID", "give the id of at least one process");
		const runtime = await call.runtime();
		const graceMs = (secondsOption(call, "grace") ?? 2) * 1000;
		const processes = await Promise.all(call.words.map((id) => processOf(call, id)));
		const results = await Promise.all(processes.map(async (process) => ({ process, result: await process.kill({ graceMs }) })));
		for (const { process, result } of results)
			Audit.note(runtime.home, process.spec.task, { event: "killed", session_id: process.id, status: result.status, by: "cli" });
		const rows = results.map(({ process, result }) => killSummary(process, result));
		if (call.out.json) call.out.data(rows.length === 1 ? rows[0] : rows);
		else {
			for (const [index, row] of rows.entries()) {
				const { process, result } = results[index] as (typeof results)[number];
				const people = counted(row.signalled.length, "process", "processes");
				if (row.status === "killed") call.out.line(`${process.id} killed: ${people} signalled, none left (${describeEnd(result.final)})`);
				else if (row.status === "already_exited")
					call.out.line(
						`${process.id} had ended already (${describeEnd(result.final)})${row.signalled.length > 0 ? `; ended ${people} it had left behind` : ""}`,
					);
				else call.out.note(`${process.id}: still alive after KILL: ${row.survivors.join(", ")}`);
			}
		}
		return rows.some((row) => row.status === "error") ? EXIT.failed : EXIT.ok;
	},
};

export const signal: CommandBody = {
	name: "signal",
	usage: "ID SIGNAL",
	options: {},
	teach: `
It goes to the process group of the command, on a terminal to the group in the foreground.

Example
  holdfast signal 3f2a INT`,
	async run(call) {
		const [id, name, ...more] = call.words;
		if (id === undefined || name === undefined || more.length > 0) throw new HoldfastError("INVALID", "give the id of a process and a signal, such as INT");
		const runtime = await call.runtime();
		const process = await processOf(call, id);
		const full = `SIG${name.toUpperCase().replace(/^SIG/, "")}` as NodeJS.Signals;
		await process.signal(full);
		Audit.note(runtime.home, process.spec.task, { event: "signalled", session_id: process.id, signal: full, by: "cli" });
		if (call.out.json) call.out.data({ ...summary(process), sent: full });
		return EXIT.ok;
	},
};
