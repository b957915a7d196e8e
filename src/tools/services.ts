/** Services of a home and its tasks, shared by the runtimes of all places that a program has open on the home. */
import { Approvals } from "../approvals/index.js";
import { Audit } from "../audit/index.js";
import { Notices } from "../notices/index.js";
import { pruneCalls, type Runtime } from "../process/index.js";
import { Sudo } from "../sudo/index.js";
import { CallRecords } from "./calls/index.js";
import { LazyJudge } from "./lazy-judge.js";
import type { Limits } from "./limits.js";
import { UnderWay } from "./under-way.js";

export class HomeServices {
	readonly #main: Runtime;
	readonly audit: Audit;
	readonly sudo: Sudo;
	/** Calls in progress in this program. */
	readonly underWay = new UnderWay();
	/** Calls with an id. */
	readonly calls: CallRecords;
	/** Tool limits of tasks that were opened with their own. */
	readonly taskLimits = new Map<string, Limits>();
	#notices: Notices | undefined;
	#approvals: Approvals | undefined;
	#judge: LazyJudge | undefined;

	/** `main`: the runtime that was opened first, and closes this. */
	constructor(main: Runtime) {
		this.#main = main;
		this.audit = new Audit(main.home);
		this.sudo = new Sudo(main);
		this.calls = new CallRecords(main);
		main.chores.push(() => pruneCalls(main.home, main.keepMs));
	}

	/** Created on first use, as are questions and rules: each costs something to open. */
	get notices(): Notices {
		this.#notices ??= new Notices(this.#main);
		return this.#notices;
	}

	get approvals(): Approvals {
		this.#approvals ??= new Approvals(this.#main.home, this.audit);
		return this.#approvals;
	}

	get judge(): LazyJudge {
		this.#judge ??= new LazyJudge(this.#main.home);
		return this.#judge;
	}

	/** Frees the resources of a task. */
	forget(task: string): void {
		this.sudo.forget(task);
		this.audit.forget(task);
		this.underWay.forget(task);
	}

	/** Ends the waits for a person. */
	stop(): void {
		this.#approvals?.close();
	}

	async close(): Promise<void> {
		this.sudo.close();
		await this.#notices?.close();
	}

	/** Closes the audit last, since the other parts may still write to it. */
	end(): void {
		this.audit.close();
	}
}
