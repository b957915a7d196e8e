/** What was in password fields of a browser: it is masked in every answer, also where the page shows, logs or sends it later. Kept in memory alone. */
import type { Locator } from "playwright-core";
import type { Tab } from "./tab.js";

const MOST = 50;
/** Shorter ones are everywhere: they are masked in their field alone. */
const LEAST = 4;
const MASK = "•••";
/** The last is put on a field that has a password in it: a page may show it as text afterwards. The live view puts it there, too, when a person types. */
const FIELDS = "input[type=password], input[autocomplete*=password], input[data-holdfast-secret]";

export class PageSecrets {
	readonly #known = new Set<string>();

	/** Looks at what the password fields of a tab have in them now. */
	async look(tab: Tab): Promise<void> {
		const fields = tab.page.frames().map((frame) =>
			frame
				.locator(FIELDS)
				.evaluateAll((found) =>
					(found as HTMLInputElement[]).map((field) => {
						if (field.value !== "" && field.type === "password") field.setAttribute("data-holdfast-secret", "");
						return field.value;
					}),
				)
				.catch(() => [] as string[]),
		);
		for (const value of (await tab.answers(Promise.all(fields))).flat()) if (value !== "") this.#add(value);
	}

	/** Fields that show such a value as text: to be covered in a picture. */
	shownFields(tab: Tab): Locator[] {
		return tab.page.frames().map((frame) => frame.locator(FIELDS).and(frame.locator("input:not([type=password])")));
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
