import type { Process } from "../process/process.js";
import type { Runtime } from "../process/runtime.js";

export interface Notice {
	readonly id: string;
	readonly session_id: string;
	readonly text: string;
}

export interface ArmOptions {
	readonly checkInterval?: number;
	readonly notifyOnComplete?: boolean;
	readonly watchPatterns?: readonly string[];
}

/** The interface only: nothing is queued yet. */
export class Notices {
	constructor(readonly runtime: Runtime) {}

	async arm(_process: Process, _options: ArmOptions): Promise<{ notes: string[] }> {
		return { notes: [] };
	}

	async take(_task: string): Promise<Notice[]> {
		return [];
	}

	async consume(_process: Process): Promise<void> {}

	async silence(_process: Process): Promise<void> {}

	async *stream(_task: string, _options: { signal?: AbortSignal } = {}): AsyncGenerator<Notice, void> {}

	async close(): Promise<void> {}
}
