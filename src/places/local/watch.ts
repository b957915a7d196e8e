import type { DirectoryWatch } from "../../base/index.js";
import { siblingOf } from "../../keeper/index.js";
import type { KeptProcess } from "../machine.js";
import { Guards } from "./guard.js";

/** Watches local processes. Inotify reports changes of a process; polling finds a killed witness. */
export class ProcessWatch {
	readonly guards = new Guards();
	readonly #directories: DirectoryWatch;

	constructor(directories: DirectoryWatch) {
		this.#directories = directories;
	}

	/** Calls `changed` with the name of a file, or null. Returns a function that stops the watch. A command may end with its shell. */
	watch({ dir, spec }: KeptProcess, changed: (name: string | null) => void): () => void {
		const ends = [this.#directories.directory(dir, changed), this.guards.add(dir, spec, () => changed(null))];
		if (spec.within) ends.push(this.#directories.directory(siblingOf(dir, spec.within.shell), changed));
		return () => {
			for (const end of ends) end();
		};
	}
}
