/** What was in password fields of a browser: it is masked in every answer, also where the page shows, logs or sends it later. Kept in memory alone. */
import type { Tab } from "./tab.js";

const MOST = 50;
/** Shorter ones are everywhere: they are masked in their field alone. */
const LEAST = 4;
const MASK = "•••";
/** The last is put on a field by the live view, when a person types into it: a page may show it as text afterwards. */
const FIELDS = "input[type=password], input[autocomplete*=password], input[data-holdfast-secret]";

export class PageSecrets {
	readonly #known = new Set<string>();

	/** Looks at what the password fields of a tab have in them now. */
	async look(tab: Tab): Promise<void> {
		const fields = tab.page.frames().map((frame) =>
			frame
				.locator(FIELDS)
				.evaluateAll((found) => found.map((field) => (field as HTMLInputElement).value))
				.catch(() => [] as string[]),
		);
		for (const value of (await tab.answers(Promise.all(fields))).flat()) if (value !== "") this.#add(value);
	}

	mask(text: string): string {
		let masked = text;
		for (const value of [...this.#known].sort((a, b) => b.length - a.length)) {
			if (value.length < LEAST) {
				masked = masked
					.split("\n")
					.map((line) => (/^\s*- (textbox|searchbox)\b/.test(line) && line.endsWith(`: ${value}`) ? `${line.slice(0, -value.length)}${MASK}` : line))
					.join("\n");
				continue;
			}
			for (const form of formsOf(value)) masked = masked.replaceAll(form, MASK);
		}
		return masked;
	}

	#add(value: string): void {
		this.#known.delete(value);
		this.#known.add(value);
		for (const oldest of this.#known) if (this.#known.size > MOST) this.#known.delete(oldest);
	}
}

/** As it is, in quotes, and in an address. */
const formsOf = (value: string): Set<string> =>
	new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), encodeURI(value), new URLSearchParams({ v: value }).toString().slice(2)]);
