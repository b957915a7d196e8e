/** The contents of a browser's password fields: masked in every answer, also where the page shows, logs or sends them later. Kept in memory alone. */
import type { Locator, Page } from "playwright-core";
import type { Tab } from "./tab.js";

const MOST = 50;
/** Shorter ones are everywhere: they are masked in their field alone. */
const LEAST = 4;
const MASK = "•••";
/** The last is put on a field that has a password in it: a page may show it as text afterwards. The live view puts it there, too, when a person types. */
const FIELDS = "input[type=password], input[autocomplete*=password], input[data-holdfast-secret]";

const TELL = "holdfastTyped";
const WORLD = "holdfast";

export class PageSecrets {
	readonly #known = new Set<string>();
	/** The text that is being typed: with the next key it is a beginning of the password, which may be a common word. */
	#typing = "";

	/**
	 * Has a page tell of what is typed into its password fields at the moment at which it is: by the next call the form may have been sent, and its field be
	 * gone. In a world of its own, which the page's scripts do not see. Frames that have a process of their own are looked at with each call alone.
	 */
	async watch(page: Page): Promise<void> {
		const cdp = await page.context().newCDPSession(page);
		cdp.on("Runtime.bindingCalled", ({ name, payload }) => {
			if (name === TELL) this.#type(payload);
		});
		const source = `(${tellOfTyping.toString()})(${JSON.stringify(TELL)})`;
		const sent = [
			cdp.send("Page.enable"),
			cdp.send("Runtime.enable"), // without it nothing is told
			cdp.send("Runtime.addBinding", { name: TELL, executionContextName: WORLD }),
			cdp.send("Page.addScriptToEvaluateOnNewDocument", { source, worldName: WORLD, runImmediately: true }),
		];
		for (const one of sent) one.catch(() => {}); // the tab is closed; one that is busy takes as long as it likes
	}

	/** Looks at what the password fields of a tab have in them now. */
	async look(tab: Tab): Promise<void> {
		const values = await tab.askFrames((frame) =>
			frame.locator(FIELDS).evaluateAll((found) =>
				(found as HTMLInputElement[]).map((field) => {
					if (field.value !== "" && field.type === "password") field.setAttribute("data-holdfast-secret", "");
					return field.value;
				}),
			),
		);
		for (const value of values.flat()) if (value) this.#add(value);
	}

	/** Fields that show such a value as text: to be covered in a picture. */
	shownFields(tab: Tab): Locator[] {
		return tab.frames().map((frame) => frame.locator(FIELDS).and(frame.locator("input:not([type=password])")));
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

	#type(value: string): void {
		const isEdit = value.startsWith(this.#typing) || this.#typing.startsWith(value);
		if (isEdit && this.#typing !== "") this.#known.delete(this.#typing);
		this.#typing = value;
		if (value !== "") this.#add(value);
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

/** Runs in the page. */
function tellOfTyping(name: string): void {
	const tell = (globalThis as unknown as Record<string, (text: string) => void>)[name];
	const on = (event: Event): void => {
		const [field] = event.composedPath();
		if (!(field instanceof HTMLInputElement) || (field.type !== "password" && !field.hasAttribute("data-holdfast-secret"))) return;
		tell?.(field.value.slice(0, 1_000));
	};
	for (const type of ["input", "change"]) window.addEventListener(type, on, { capture: true });
}
