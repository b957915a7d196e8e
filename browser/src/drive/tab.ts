/** What is known of a tab besides what playwright knows: its documents, its console, dialogs and downloads. */
import type { Dialog, Download, Page } from "playwright-core";

const CONSOLE = 200;
const DOWNLOADS = 20;

export class Tab {
	readonly page: Page;
	readonly console: { readonly type: string; readonly text: string; readonly at: string }[] = [];
	readonly downloads: Download[] = [];
	dialog: Dialog | undefined;
	crashed = false;
	readonly #documents = new Map<number, number>();
	readonly #nextDocument: () => number;
	#waiting: (() => void)[] = [];

	constructor(page: Page, options: { nextDocument: () => number; visited: (url: string) => void }) {
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
		page.on("download", (download) => {
			this.downloads.push(download);
			if (this.downloads.length > DOWNLOADS) this.downloads.shift();
			this.#wake();
		});
		page.on("framenavigated", (frame) => {
			if (frame !== page.mainFrame()) return;
			this.crashed = false;
			options.visited(frame.url());
		});
		options.visited(page.url());
	}

	/** Returns the number of the document that the tab shows. */
	async document(): Promise<number> {
		const origin = await this.page.evaluate(() => performance.timeOrigin);
		const known = this.#documents.get(origin) ?? this.#nextDocument();
		this.#documents.set(origin, known);
		return known;
	}

	/** Resolves when a dialog opens, a download begins or the tab crashes. */
	interrupted(): Promise<void> {
		return new Promise((resolve) => this.#waiting.push(resolve));
	}

	#wake(): void {
		for (const resolve of this.#waiting.splice(0)) resolve();
	}
}
