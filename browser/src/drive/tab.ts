/** What is known of a tab besides what playwright knows: its documents, its console and dialogs. */
import type { Dialog, Page } from "playwright-core";
import { WebError } from "../base/index.js";

const CONSOLE = 200;
const ANSWER_MS = 5_000;

/** The page does not answer: one of its scripts runs and does not end. */
export class BusyPage extends WebError {
	constructor() {
		super(`the page has not answered for ${ANSWER_MS / 1000} s: one of its scripts keeps it busy. Wait with browser_wait, or leave it with browser_navigate`);
	}
}

export class Tab {
	readonly page: Page;
	readonly console: { readonly type: string; readonly text: string; readonly at: string }[] = [];
	dialog: Dialog | undefined;
	crashed = false;
	readonly #documents = new Map<string, string>();
	readonly #frames = new Map<string, string>();
	readonly #nextDocument: () => string;
	#waiting: (() => void)[] = [];

	constructor(page: Page, options: { nextDocument: () => string; visited: (url: string) => void }) {
		this.page = page;
		this.#nextDocument = options.nextDocument;
		const say = (type: string, text: string): void => {
			this.console.push({ type, text: text.slice(0, 1_000), at: new Date().toISOString() });
			if (this.console.length > CONSOLE) this.console.shift();
		};
		page.on("console", (message) => say(message.type(), message.text()));
		page.on("pageerror", (error) => say("exception", error.message));
		page.on("crash", () => {
			this.crashed = true;
			this.#wake();
		});
		page.on("dialog", (dialog) => {
			this.dialog = dialog;
			this.#wake();
		});
		page.on("framenavigated", (frame) => {
			if (frame !== page.mainFrame()) return;
			this.crashed = false;
			options.visited(frame.url());
		});
		options.visited(page.url());
	}

	/**
	 * Returns the name of the document that a ref of playwright's is in. A frame that navigates gets another document, in which playwright's refs begin
	 * anew: with the name in front, an old ref is known as one.
	 */
	async document(inner: string): Promise<string> {
		const frame = frameOf(inner);
		const origin = await this.answers(this.page.getByRef(inner).evaluate(() => performance.timeOrigin));
		const name = this.#documents.get(`${frame}:${origin}`) ?? this.#nextDocument();
		this.#documents.set(`${frame}:${origin}`, name);
		this.#frames.set(name, frame);
		return name;
	}

	/** Returns playwright's ref for one of ours; undefined if no snapshot of this tab had it. */
	innerRef({ document, element }: { readonly document: string; readonly element: string }): string | undefined {
		const frame = this.#frames.get(document);
		return frame === undefined ? undefined : `${frame}${element}`;
	}

	/** Waits for what the page answers, but not for ever. Throws `BusyPage`. */
	async answers<T>(work: Promise<T>, ms = ANSWER_MS): Promise<T> {
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<never>((_resolve, reject) => {
			timer = setTimeout(() => reject(this.dialog ? new WebError("a dialog has opened; answer it with browser_dialog") : new BusyPage()), ms);
		});
		try {
			return await Promise.race([work, late]);
		} finally {
			clearTimeout(timer);
		}
	}

	/** Resolves when a dialog opens or the tab crashes. */
	interrupted(): Promise<void> {
		return new Promise((resolve) => this.#waiting.push(resolve));
	}

	#wake(): void {
		for (const resolve of this.#waiting.splice(0)) resolve();
	}
}

/** Returns the frame in a ref of playwright's. */
export const frameOf = (inner: string): string => /^f\d+(?=e)/.exec(inner)?.[0] ?? "";
