/** A runtime with the two tools of an agent. Shells and notices exist once they are needed: without them it costs what a plain one does. */
import { Notices } from "../notices/index.js";
import { prepareRuntime, Runtime, type RuntimeOptions } from "../process/runtime.js";
import { Shells } from "../shell/index.js";
import type { Call } from "./call.js";
import type { ProcessResult, TerminalResult } from "./result.js";

export async function openAgentRuntime(options: RuntimeOptions = {}): Promise<AgentRuntime> {
	return new AgentRuntime(...(await prepareRuntime(options)));
}

export class AgentRuntime extends Runtime {
	#shells: Shells | undefined;
	#notices: Notices | undefined;

	get shells(): Shells {
		this.#shells ??= new Shells(this);
		return this.#shells;
	}

	get notices(): Notices {
		this.#notices ??= new Notices(this);
		return this.#notices;
	}

	/** The tool of that name. `args` are checked here; whatever is wrong with them is said in the result. */
	terminal(_args: unknown, _call: Call = {}): Promise<TerminalResult> {
		throw new Error("to come");
	}

	process(_args: unknown, _call: Call = {}): Promise<ProcessResult> {
		throw new Error("to come");
	}

	/** Processes, shells included, go on. */
	override async close(): Promise<void> {
		await this.#notices?.close();
		await this.#shells?.close();
		await super.close();
	}
}
