import type { Approval } from "../../../approvals/index.js";
import { Audit } from "../../../audit/index.js";
import { counted, keptProcesses, REMOTE_MS } from "../../../base/index.js";
import { type CliCall, type CommandBody, EXIT, noWords } from "../command.js";
import { handleOf } from "../look.js";
import { type Output, oneLine, plainLine } from "../output.js";
import { isAsking, type Listed, listed } from "../waits.js";
import { under } from "../wrap.js";
import { processTable } from "./ps.js";

export const status: CommandBody = {
	name: "status",
	usage: "[--task NAME]",
	options: { task: { type: "string", value: "NAME", help: "only of this task (default: every task)" } },
	teach: `
\`holdfast\` alone, on a terminal, is the same. What waits for you comes first: questions of agents, and programs that wait for a line
or a password. With --json: {approvals, processes, gave_up, ended, next}; approvals and processes as in docs/cli.md, of the running ones only, ended:
how many have ended in the last 30 minutes, next: [{command, why}].

Examples
  holdfast status
  holdfast status --task ci --json`,
	async run(call) {
		noWords(call);
		const { out } = call;
		const found = await look(call);
		const next = nextSteps(found);
		if (out.json) out.data({ ...found, next });
		else show(found, next, out);
		return EXIT.ok;
	},
};

interface Overview {
	readonly approvals: readonly Approval[];
	/** The running processes; those that ask something come first. */
	readonly processes: readonly Listed[];
	readonly ended: number;
	/** Processes that were to be restarted and ended too often, as long as they are in the list. */
	readonly gave_up: readonly Listed[];
}

interface Step {
	readonly command: string;
	readonly why: string;
}

async function look({ values, runtime, out }: CliCall): Promise<Overview> {
	const opened = await runtime();
	const task = typeof values.task === "string" ? values.task : undefined;
	const { Approvals } = await import("../../../approvals/index.js");
	const approvals = new Approvals(opened.home, new Audit(opened.home)).list(task === undefined ? {} : { task });
	for (const note of await opened.sync({ task: task ?? null, ms: REMOTE_MS.person })) out.remark(note);
	const all = await listed(opened.list({ task: task ?? null }));
	const running = all.filter(({ status }) => status === "running");
	const processes = [...running.filter(isAsking), ...running.filter((item) => !isAsking(item))];
	return {
		approvals,
		processes,
		ended: all.length - running.length,
		gave_up: all.filter(({ restart, status, note }) => restart && status !== "running" && note !== undefined),
	};
}

function show({ approvals, processes, ended, gave_up }: Overview, next: readonly Step[], out: Output): void {
	for (const { id, task, command } of approvals) {
		out.line(`${out.style("yellow", "An agent asks")} (task ${oneLine(task, 30)}, ${id})`);
		out.line(`  ${oneLine(command, out.columns - 2)}`);
	}
	if (approvals.length > 0) out.line();
	if (processes.length === 0) out.line("Nothing runs.");
	else processTable(processes, out, { tasks: true, said: [] });
	for (const item of gave_up) for (const line of under(`${out.style("red", handle(item, gave_up))}: `, item.note as string, out.columns)) out.line(line);
	if (ended > 0)
		for (const line of under("", `${counted(ended, "process has", "processes have")} ended in the last 30 minutes: holdfast ps`, out.columns))
			out.line(out.style("dim", line));
	out.line();
	const commands = Math.max(...next.map(({ command }) => command.length));
	for (const { command, why } of next)
		for (const line of under(`${out.style("cyan", command)}${" ".repeat(commands - command.length)}  `, why, out.columns)) out.line(line);
}

/** At most two of what waits, then what people do most. */
function nextSteps({ approvals, processes }: Overview): Step[] {
	const steps: Step[] = [];
	const [question] = approvals;
	if (question) steps.push({ command: `holdfast approvals answer ${question.id.slice(5, 9)} once`, why: "allow it this time; `no` refuses it" });
	const within = keptProcesses(); // a person does not attach to the shell that this runs in
	const others = processes.filter(({ session_id }) => !within.includes(session_id));
	const asks = others.find(isAsking);
	if (asks) steps.push({ command: `holdfast attach ${handle(asks, processes)}`, why: `answer it: ${prompt(asks) || "it waits for a line"} (Ctrl-] leaves)` });
	const other = others.find((item) => !isAsking(item));
	if (other?.pty) steps.push({ command: `holdfast attach ${handle(other, processes)}`, why: "put your terminal on it (Ctrl-] leaves)" });
	else if (other) steps.push({ command: `holdfast logs -f ${handle(other, processes)}`, why: "follow what it prints" });
	if (processes.length === 0)
		steps.push(
			{ command: "holdfast shell", why: "open a shell that outlives this terminal" },
			{ command: "holdfast run -b -- COMMAND", why: "start a command that does" },
		);
	return [
		...steps,
		{ command: "holdfast serve", why: "see every terminal in a browser" },
		...(processes.length === 0 ? [{ command: "holdfast setup", why: "connect an agent" }] : []),
		{ command: "holdfast help", why: "all commands" },
	];
}

/** Its name, if it means this one alone. */
const handle = ({ session_id, name }: Listed, all: readonly Listed[]): string =>
	handleOf({ id: session_id, ...(all.filter((item) => item.name === name).length === 1 ? { name } : {}) });

/** The last line that it has printed. */
const prompt = ({ output_preview }: Listed): string => plainLine(output_preview.split(/[\r\n]+/).findLast((line) => line.trim() !== "") ?? "", 60);
