import { HoldfastError, idPrefix } from "../../../base/index.js";
import { runningCalled } from "../../../process/index.js";
import { ACTIONS, type AgentRuntime, processInput, renderResult } from "../../../tools/index.js";
import { type CommandBody, EXIT } from "../command.js";
import { interruptible } from "../interruptible.js";
import { argumentsOf, optionsOf } from "../tool-options.js";

export const process: CommandBody = {
	name: "process",
	usage: "ACTION [ID | NAME] [DATA] [OPTIONS]",
	words: ACTIONS,
	options: optionsOf(processInput, ["action", "session_id"]),
	teach: `
Actions: ${ACTIONS.join(", ")}. DATA is short for --data. Only processes of the task (--task) are seen.
With --json the result object, as in docs/tools.md. The commands of the same names (ps, logs, wait, kill, …) are for people.

Exit code: 0; 1 when it failed, 3 when there is no such process, 130 when it was interrupted.

Examples
  holdfast process list
  holdfast process wait 3f2a --until '{"port": 3000}' --timeout 30
  holdfast process submit 3f2a 'select 1;'`,
	async run(call) {
		const [action, id, data, ...more] = call.words;
		if (more.length > 0) throw new HoldfastError("INVALID", "put quotes around data with spaces");
		if (data !== undefined && call.values.data !== undefined) throw new HoldfastError("INVALID", "give the data as a word or with --data, not both");
		const runtime = await call.agent();
		const args = {
			...argumentsOf(processInput, call.values),
			...(action === undefined ? {} : { action }),
			...(id === undefined ? {} : { session_id: idOf(runtime, id) }),
			...(data === undefined ? {} : { data }),
		};
		const result = await interruptible((signal) => runtime.process(args, { signal }));
		if (call.out.json) call.out.data(result);
		else call.out.line(renderResult(result));
		if (result.status === "not_found") return EXIT.notFound;
		if (result.status === "interrupted") return EXIT.interrupted;
		return result.error === null ? EXIT.ok : EXIT.failed;
	},
};

/** A name of the task's own; what is none is left to the tool, which knows what to say. */
function idOf(runtime: AgentRuntime, text: string): string {
	const [found, ...more] = idPrefix(text) === undefined ? runningCalled(runtime, text, { task: runtime.task }) : [];
	return found && more.length === 0 ? found.id : text;
}
