/** Events about approvals: a question was asked, answered, or has expired. */
import type { Approvals } from "../approvals/index.js";
import type { Happening } from "./event.js";
import { answered, asked } from "./happenings.js";

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class QuestionEvents {
	readonly #approvals: Approvals;
	readonly #tell: (happening: Happening) => void;
	readonly #states = new Map<string, string>(); // by id
	#soon: NodeJS.Timeout | undefined;
	#expiry: NodeJS.Timeout | undefined;

	constructor(approvals: Approvals, tell: (happening: Happening) => void) {
		this.#approvals = approvals;
		this.#tell = tell;
	}

	/** Begins to watch. Existing questions are not told. */
	start(): void {
		for (const { id, state } of this.#approvals.list({ all: true })) this.#states.set(id, state);
		this.#awaitExpiry();
	}

	lookLater(): void {
		this.#soon ??= setTimeout(() => this.look(), 0);
	}

	look(): void {
		clearTimeout(this.#soon);
		this.#soon = undefined;
		for (const approval of this.#approvals.list({ all: true })) {
			const before = this.#states.get(approval.id);
			if (before === approval.state) continue;
			this.#states.set(approval.id, approval.state);
			if (before === undefined) this.#tell(asked(approval));
			const answer = answered(approval);
			if (answer) this.#tell(answer);
		}
		this.#awaitExpiry();
	}

	/** No call may be waiting for a question whose time is up. */
	#awaitExpiry(): void {
		clearTimeout(this.#expiry);
		const next = Math.min(...this.#approvals.list().map(({ expires_at }) => Date.parse(expires_at)));
		if (Number.isFinite(next)) this.#expiry = setTimeout(() => this.look(), Math.min(Math.max(0, next - Date.now()) + 1, LONGEST_TIMER_MS));
	}

	/** Forgets questions whose files are gone. */
	sweep(): void {
		const known = new Set(this.#approvals.list({ all: true }).map(({ id }) => id));
		for (const id of this.#states.keys()) if (!known.has(id)) this.#states.delete(id);
	}

	stop(): void {
		clearTimeout(this.#soon);
		clearTimeout(this.#expiry);
		this.#soon = undefined;
		this.#states.clear();
	}
}
