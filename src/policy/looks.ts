/** Look-ups on this machine for one decision. As long as a second look-up finds the same, the decision is the same. */

type Answer = string | boolean;

interface Look {
	readonly ask: (file: string) => Answer;
	readonly file: string;
	readonly found: Answer;
}

const MOST = 64; // beyond that it is no quicker to look than to decide

export class Looks {
	readonly #roots: Look[] = [];
	readonly #looks: Look[] = [];

	/** Resolves Holdfast's own directories. These make no difference to a command for which no other file is looked up. */
	root(ask: (file: string) => string, file: string): string {
		const found = ask(file);
		this.#roots.push({ ask, file, found });
		return found;
	}

	/** `ask` depends on nothing but the file, and so can be asked again. */
	at<T extends Answer>(ask: (file: string) => T, file: string): T {
		const found = ask(file);
		if (this.#looks.length <= MOST) this.#looks.push({ ask, file, found });
		return found;
	}

	/** Returns whether everything is as it was found. Of too many it is not known. */
	hold(): boolean {
		if (this.#looks.length === 0) return true;
		return this.#looks.length <= MOST && [...this.#roots, ...this.#looks].every(({ ask, file, found }) => ask(file) === found);
	}
}
