import { type Approval, type Choice, mustBePerson } from "../../../approvals/index.js";
import { HoldfastError, visible } from "../../../base/index.js";
import type { AgentRuntime } from "../../../tools/index.js";
import { askHere, byTerminal, CHOICES, describe } from "../approve.js";
import { canAsk } from "../ask.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { oneLine } from "../output.js";

export const approvals: CommandBody = {
	name: "approvals",
	usage: "[list | show ID | answer ID once|task|always|no | revoke | watch]",
	words: ["list", "show", "answer", "revoke", "watch"],
	options: {
		all: { type: "boolean", short: "a", help: "list: also those that were answered or have expired in the last hour" },
		message: { type: "string", short: "m", value: "TEXT", help: "answer: say this to the agent" },
		task: { type: "string", value: "NAME", help: "list, watch: only what this task asks (default: every task); revoke: of this task" },
	},
	teach: `
Without a word it lists what waits, of every task (--task: of that one). An id may be cut to 4 of its digits.
  once     this one run
  task     this very command in this directory, for the rest of the task
  always   the same for good: adds a rule to your policy.json, which is yours to change or remove
  no       not at all
The first answer counts, from wherever it comes. Without one the question expires, and that is a no. watch shows each as it
comes, and asks at a terminal; as long as it runs, agents wait for you. revoke takes back what was allowed for a task, and
withdraws what it asks; rules of always stay. Agents cannot approve: it is refused inside any process that Holdfast runs.

Exit code: 0; 1 when it was answered before or has expired; 3 when there is no such question.

Examples
  holdfast approvals
  holdfast approvals answer 3f2a once
  holdfast approvals answer 3f2a no --message 'use a branch of your own'
  holdfast approvals revoke --task my-agent
  holdfast approvals watch`,
	async run(call) {
		const [verb = "list", ...words] = call.words;
		const verbs: Readonly<Record<string, (call: CliCall, words: readonly string[]) => Promise<number>>> = { list, show, answer, revoke, watch };
		const act = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
		if (!act) throw new HoldfastError("INVALID", `there is no "${verb}" here; there are ${Object.keys(verbs).join(", ")}`);
		return act(call, words);
	},
};

async function list(call: CliCall, words: readonly string[]): Promise<number> {
	if (words.length > 0) throw new HoldfastError("INVALID", `"${words.join(" ")}" is not expected here`);
	const { out, values } = call;
	const found = (await call.agent()).approvals.list({ ...ofTask(call), ...(values.all ? { all: true } : {}) });
	if (out.json) out.data({ approvals: found });
	else if (found.length === 0) out.note("nothing waits for an answer");
	else
		out.table(
			["ID", "STATE", "TASK", "LEFT", "COMMAND"],
			found.map((one) => [one.id, stateCell(one), oneLine(one.task, 16), left(one), oneLine(one.command, 80)]),
			{ drop: ["LEFT", "STATE", "TASK"] },
		);
	return EXIT.ok;
}

async function show(call: CliCall, words: readonly string[]): Promise<number> {
	const found = (await call.agent()).approvals.get(idOf(words.length === 1 ? words[0] : undefined));
	if (call.out.json) call.out.data(found);
	else {
		for (const line of describe(found, call.out)) call.out.line(line);
		call.out.line(
			`  ${stateCell(found)}${found.by === undefined ? `, ${left(found)}` : ` (${found.by})`}${found.message === undefined ? "" : `: ${visible(found.message)}`}`,
		);
	}
	return EXIT.ok;
}

async function answer(call: CliCall, words: readonly string[]): Promise<number> {
	const [id, choice, ...more] = words;
	if (more.length > 0) throw new HoldfastError("INVALID", `"${more.join(" ")}" is not expected here; a message for the agent goes behind --message`);
	if (choice === undefined) throw new HoldfastError("INVALID", "say which and how: `holdfast approvals answer ID once|task|always|no`");
	const { message } = call.values;
	const { approvals: store } = await call.agent();
	const done = await store.answer(idOf(id), {
		answer: CHOICES[choice] ?? (choice as Choice),
		by: byTerminal(),
		...(typeof message === "string" ? { message } : {}),
	});
	if (call.out.json) call.out.data(done);
	else call.out.note(`${done.id}: ${done.answer}${whatNow(done)}`);
	return EXIT.ok;
}

async function revoke(call: CliCall, words: readonly string[]): Promise<number> {
	const { task } = call.values;
	if (words.length > 0) throw new HoldfastError("INVALID", `"${words.join(" ")}" is not expected here; name the task with --task`);
	if (typeof task !== "string") throw new HoldfastError("INVALID", "say of which task: `holdfast approvals revoke --task NAME`");
	const done = (await call.agent()).approvals.revoke(task, { by: byTerminal() });
	const { out } = call;
	if (out.json) out.data(done);
	else {
		for (const { approval_id, command } of done.allowed) out.line(`${approval_id}: no longer allowed: ${oneLine(command, 80)}`);
		for (const id of done.unused) out.line(`${id}: its answer, once, is of no use any more`);
		for (const id of done.withdrawn) out.line(`${id}: withdrawn`);
		if (done.allowed.length + done.unused.length + done.withdrawn.length === 0) out.note(`nothing was allowed for the task "${task}", and it asks nothing`);
	}
	return EXIT.ok;
}

const whatNow = ({ answer: given, waiting }: Approval): string =>
	waiting || given === "task" || given === "always"
		? ""
		: given === "no"
			? "; told to the agent when it tries again"
			: "; no call waits for it now, so it counts for the next identical call, for a while";

async function watch(call: CliCall, words: readonly string[]): Promise<number> {
	if (words.length > 0) throw new HoldfastError("INVALID", `"${words.join(" ")}" is not expected here`);
	const runtime = await call.agent();
	mustBePerson(runtime.home);
	const stop = new AbortController();
	for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => stop.abort());
	if (!call.out.json) call.out.note("Waiting for what agents want to have allowed. Ctrl-C ends it.");
	for await (const approval of runtime.approvals.stream({ ...ofTask(call), signal: stop.signal })) {
		if (call.out.json) call.out.data(approval);
		else if (canAsk()) await askAndAnswer(call, runtime, approval, stop.signal);
		else for (const line of describe(approval, call.out)) call.out.line(line);
	}
	return EXIT.ok;
}

/** Removes the question when another program has answered it, or its time is up. */
async function askAndAnswer(call: CliCall, { approvals: store }: AgentRuntime, approval: Approval, signal: AbortSignal): Promise<void> {
	const over = new AbortController();
	const settled = store.settled(approval.id, AbortSignal.any([signal, over.signal])).finally(() => over.abort());
	const reply = await askHere(approval, call.out, AbortSignal.any([signal, over.signal]));
	try {
		if (reply) await store.answer(approval.id, reply);
	} catch (error) {
		call.out.error(error);
	}
	over.abort();
	const { state, answer: given, by } = await settled;
	if (!reply && state !== "pending") call.out.note(`${approval.id}: ${given === undefined ? state : `${given}, by ${by}`}`);
}

function idOf(word: string | undefined): string {
	if (word === undefined) throw new HoldfastError("INVALID", "give the id of one approval; `holdfast approvals` lists those that wait");
	return word;
}

const ofTask = ({ values }: CliCall): { task?: string } => (typeof values.task === "string" ? { task: values.task } : {});

const stateCell = ({ state, answer: given }: Approval): string => given ?? state;

const left = ({ state, expires_at }: Approval): string =>
	state === "pending" ? `${Math.max(0, Math.round((Date.parse(expires_at) - Date.now()) / 1000))}s` : "-";
