import type { Approver } from "../../../approvals/index.js";
import { ERRORS, type ErrorCode, keptProcesses } from "../../../base/index.js";
import { renderResult, terminalInput } from "../../../tools/index.js";
import { askHere } from "../approve.js";
import { canAsk } from "../ask.js";
import { passwordAsker } from "../ask-password.js";
import { type CommandBody, EXIT } from "../command.js";
import { interruptible } from "../interruptible.js";
import { argumentsOf, optionsOf } from "../tool-options.js";

export const terminal: CommandBody = {
	name: "terminal",
	usage: "[OPTIONS] -- COMMAND | --input-keys KEYS",
	options: optionsOf(terminalInput, ["command"]),
	runs: true,
	starts: true,
	teach: `
The shell belongs to the task (--task) and outlives this program: directory, variables and functions are there for the next call.
Several words are joined by spaces and are shell text. With --json the result object, as in docs/tools.md.
Ctrl-C interrupts the command and keeps the shell. What a rule wants a person to allow (docs/approvals.md) is asked here, at a terminal.

Exit code: the command's own (124: killed at its deadline, 130: interrupted); 0 when it goes on or waits for input; 125 when
nothing was started or it was refused; 75 when the place waits in a queue or is being made; 1 when it waits for a person's answer; 3 when there is no such process; 1 when its end was not seen.

Examples
  holdfast terminal -- cd /tmp
  holdfast terminal -- pwd
  holdfast terminal --pty -- python3
  holdfast terminal --input-keys '1 + 1<ENTER>'`,
	async run(call) {
		const { values, words, out } = call;
		const args = { ...argumentsOf(terminalInput, values), ...(words.length > 0 ? { command: words.join(" ") } : {}) };
		const runtime = await call.agent();
		const asks = canAsk() && !out.json && keptProcesses().length === 0;
		// A program of the agent's own, on a terminal that the agent types at, asks no person.
		if (keptProcesses().length === 0) runtime.sudo.passwords.askPerson = passwordAsker(runtime.task);
		const approver: Approver = (approval, signal) => askHere(approval, out, signal);
		let code: ErrorCode | undefined;
		const failed = (why: ErrorCode) => {
			code = why;
		};
		const result = await interruptible((signal) => runtime.terminal(args, { signal, failed, door: "cli", ...(asks ? { approver } : {}) }));
		if (out.json) out.data(result);
		else out.line(renderResult(result));
		if (code === "PENDING") return ERRORS.PENDING.exit;
		if (result.status === "error" || result.status === "blocked") return EXIT.notStarted;
		if (result.status === "not_found") return EXIT.notFound;
		if (result.status === "lost" || result.status === "pending_approval") return EXIT.failed;
		return result.exit_code ?? (result.status === "interrupted" ? EXIT.interrupted : EXIT.ok);
	},
};
