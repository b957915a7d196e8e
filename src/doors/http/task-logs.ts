/** Tells viewers of transcripts which tasks have done something: when the audit of a task has grown, at most a few times a second each. */
import path from "node:path";
import { type Home, namesIn, versionOf } from "../../base/index.js";
import { taskIn } from "../../transcript/index.js";

const GATHER_MS = 300;
const FILE = /^[0-9a-f]{12}\.jsonl$/;

export class TaskLogReader {
	readonly #home: Home;
	readonly #tell: (task: string) => void;
	readonly #changed = new Set<string>();
	readonly #versions = new Map<string, string>();
	#all = false;
	#timer: NodeJS.Timeout | undefined;
	readonly #tasks = new Set<string>();

	constructor(home: Home, tell: (task: string) => void) {
		this.#home = home;
		this.#tell = tell;
	}

	/** Returns what ends it. */
	start(): () => void {
		this.#look(namesIn(this.#home.audit));
		const unwatch = this.#home.watch.directory(this.#home.audit, (name) => {
			if (name === null) this.#all = true;
			else if (FILE.test(name)) this.#changed.add(name);
			else return;
			this.#later();
		});
		return () => {
			unwatch();
			clearTimeout(this.#timer);
			this.#timer = undefined;
			this.#versions.clear();
		};
	}

	/** Something of this task has begun or ended. */
	heard(task: string): void {
		this.#tasks.add(task);
		this.#later();
	}

	#later(): void {
		this.#timer ??= setTimeout(() => this.#tellAll(), GATHER_MS);
	}

	#tellAll(): void {
		this.#timer = undefined;
		const names = this.#all ? namesIn(this.#home.audit) : [...this.#changed];
		this.#all = false;
		this.#changed.clear();
		for (const name of this.#look(names)) {
			const task = taskIn(path.join(this.#home.audit, name));
			if (task !== undefined) this.#tasks.add(task);
		}
		for (const task of this.#tasks) this.#tell(task);
		this.#tasks.clear();
	}

	/** Returns those that have changed since the last look. */
	#look(names: readonly string[]): string[] {
		return names.filter((name) => {
			if (!FILE.test(name)) return false;
			const version = versionOf(path.join(this.#home.audit, name));
			if (this.#versions.get(name) === version) return false;
			this.#versions.set(name, version);
			return true;
		});
	}
}
