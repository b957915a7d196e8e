/** What belongs to a home and its tasks, wherever these run: one set for the runtimes of all places that a program has on the home. */
import { Approvals } from "../approvals/index.js";
import { Audit } from "../audit/index.js";
import { Notices } from "../notices/index.js";
import { pruneCalls, type Runtime } from "../process/index.js";
import { Sudo } from "../sudo/index.js";
import { CallRecords } from "./calls/index.js";
import { Gate } from "./gate.js";
import type { Limits } from "./limits.js";
import { UnderWay } from "./under-way.js";

export class HomeServices {
	readonly #main: Runtime;
	readonly audit: Audit;
	readonly sudo: Sudo;
	/** Calls that are under way in this program. */
	readonly underWay = new UnderWay();
	/** Calls that their callers have given an id. */
	readonly calls: CallRecords;
	/** The numbers of the tools, of tasks that were opened with their own. */
	readonly taskLimits = new Map<string, Limits>();
	#notices: Notices | undefined;
	#approvals: Approvals | undefined;
	#gate: Gate | undefined;

	/** `main`: the runtime that was opened first, and closes this. */
	constructor(main: Runtime) {
		this.#main = main;
		this.audit = new Audit(main.home);
		this.sudo = new Sudo(main);
		this.calls = new CallRecords(main);
		main.chores.push(() => pruneCalls(main.home, main.keepMs));
	}

	/** Notices, questions and rules cost something to open: each is there once it is needed. */
	get notices(): Notices {
		this.#notices ??= new Notices(this.#main);
		return this.#notices;
	}

	get approvals(): Approvals {
		this.#approvals ??= new Approvals(this.#main.home, this.audit);
		return this.#approvals;
	}

	get gate(): Gate {
		this.#gate ??= new Gate(this.#main.home);
		return this.#gate;
	}

	/** Frees what is held for a task. */
	forget(task: string): void {
		this.sudo.forget(task);
		this.audit.forget(task);
		this.underWay.forget(task);
	}

	/** Calls that wait for a person stop waiting. */
	stop(): void {
		this.#approvals?.close();
	}

	async close(): Promise<void> {
		this.sudo.close();
		await this.#notices?.close();
	}

	/** After all others: they may have something to write. */
	end(): void {
		this.audit.close();
	}
}
