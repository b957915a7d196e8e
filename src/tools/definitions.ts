/** The tools as every door shows them. Written for a model: each line of a description is there because of a mistake it prevents. */
import * as z from "zod";
import type { Call } from "./call.js";
import { FILE_TOOLS } from "./files/index.js";
import { processInputWith, terminalInputWith } from "./input.js";
import { type JsonSchema, jsonSchema } from "./json-schema.js";
import { LIMITS, type Limits } from "./limits.js";
import { processOutput, type ToolName, type ToolResult, terminalOutput } from "./result.js";

/** Runs a tool by its name. */
export interface ToolCaller {
	call(tool: ToolName, args: unknown, call?: Call): Promise<ToolResult>;
}

export interface Tool {
	readonly name: ToolName;
	readonly title: string;
	readonly description: string;
	readonly input: z.ZodObject;
	readonly output: z.ZodObject;
	/** The same as JSON schemas, for doors that speak those. */
	readonly inputSchema: JsonSchema;
	readonly outputSchema: JsonSchema;
	/** In the words of MCP. */
	readonly annotations: {
		readonly readOnlyHint: boolean;
		readonly destructiveHint: boolean;
		readonly idempotentHint: boolean;
		readonly openWorldHint: boolean;
	};
	/** Never throws for anything a model can cause: it checks `args` itself, and what is wrong with them is a result. */
	run(runtime: ToolCaller, args: unknown, call?: Call): Promise<ToolResult>;
}

const TERMINAL = `Run a command in your own bash shell. Directory, variables, functions and an activated virtualenv last from one call to the next.
- Commands that end: terminal(command="npm test"). If one takes longer than timeout it goes on in the background and you get its session_id; that is not an error. Go on with process(action="wait", session_id=…); do not start it again.
- Servers and anything that does not end by itself: background=true, without & or nohup: terminal(command="npm run dev", background=true), then process(action="wait", session_id=…, until={"port": 3000}).
- Programs that ask or draw (python3, vim, ssh, npm init): pty=true. When one waits for input you get status "awaiting_input" and its screen; answer with terminal(input_keys="yes<ENTER>").
- Without pty a command cannot be answered: its input is empty. Use flags such as -y, or pty=true.
Keys: <ENTER> <ESC> <TAB> <SHIFT+TAB> <BACKSPACE> <DELETE> <UP> <DOWN> <LEFT> <RIGHT> <HOME> <END> <PAGEUP> <PAGEDOWN> <F1> to <F12>, <CTRL+C>, <ALT+x>; << types a <. Text needs an <ENTER> of its own.
Status "blocked" or "pending_approval": it did not run, because a rule or a person has to allow it. Do what the result says; do not try the same another way.
exit_code is null while it runs. 124: killed at its deadline, 130: interrupted, 128+n: ended by signal n.`;

const PROCESS = `Look after processes that terminal started: those in the background, and those on a terminal.
- list: yours, newest first. poll: status and what is new since your last poll. log: the last lines; offset and limit for others (offset=0: from the start).
- wait: until it exits, or one of these holds: {"port": 3000}, {"pattern": "ready|error"}, {"http": "http://127.0.0.1:3000/"}, {"silence": 10}, {"input": true}, {"screen": "text"}. If the time is up first: status "running" and timed_out, not an error; wait again or do something else.
- kill: ends it and everything it started, and looks whether that worked.
- write: data to its input as it is. submit: data and Enter. close: end of input.
- keys: type keys into a program on a terminal, e.g. data="<ESC>:q!<ENTER>". screen: what it shows now. resize: cols and rows. signal: one signal, e.g. signal="INT".`;

/** Made when it is first needed: a command that runs one tool has no use for the others. */
type Later = z.ZodLazy<z.ZodObject>;

/** With the numbers that a runtime was opened with. */
export function toolsWith(limits: Limits): readonly Tool[] {
	return [
		tool(
			"terminal",
			"Terminal",
			TERMINAL,
			z.lazy(() => terminalInputWith(limits)),
			terminalOutput,
		),
		tool(
			"process",
			"Process",
			PROCESS,
			z.lazy(() => processInputWith(limits)),
			processOutput,
		),
		...FILE_TOOLS.map(({ name, title, description, input, output, changes }) => tool(name, title, description, input, output, changes)),
	];
}

function tool(name: ToolName, title: string, description: string, input: Later, output: Later, changes = true): Tool {
	let inputSchema: JsonSchema | undefined;
	let outputSchema: JsonSchema | undefined;
	return {
		name,
		title,
		description,
		get input() {
			return input._zod.innerType;
		},
		get output() {
			return output._zod.innerType;
		},
		get inputSchema() {
			inputSchema ??= jsonSchema(input._zod.innerType); // only some doors want them, and they take a while
			return inputSchema;
		},
		get outputSchema() {
			outputSchema ??= jsonSchema(output._zod.innerType);
			return outputSchema;
		},
		annotations: { readOnlyHint: !changes, destructiveHint: changes, idempotentHint: !changes, openWorldHint: true },
		run: (runtime, args, call) => runtime.call(name, args, call),
	};
}

/** With the numbers that hold unless others are given. */
export const TOOLS: readonly Tool[] = toolsWith(LIMITS);

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);
