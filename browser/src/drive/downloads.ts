/**
 * Downloads of a kept browser: Chromium writes them beside its profile in the task's place, whatever kind of place that is. Playwright would have them
 * written to a directory of this program, which other places do not have.
 */
import type { Browser, CDPSession } from "playwright-core";
import { anySignal, WebError } from "../base/index.js";

const MOST = 20;
/** A page may begin one that never ends, and the disk is the task's. */
const MOST_BYTES = 2 * 1024 ** 3;

export interface Downloaded {
	readonly id: string;
	readonly url: string;
	/** As the site suggests it. */
	readonly name: string;
	/** In the task's place. */
	readonly path: string;
	state: "inProgress" | "completed" | "canceled" | "too large";
}

export class Downloads {
	readonly #cdp: CDPSession;
	/** Those that were not kept, the latest last. */
	readonly waiting: Downloaded[] = [];
	#changed: (() => void)[] = [];

	private constructor(cdp: CDPSession, directory: string, mostBytes: number) {
		this.#cdp = cdp;
		cdp.on("Browser.downloadWillBegin", ({ guid, url, suggestedFilename }) => {
			this.waiting.push({ id: guid, url, name: suggestedFilename, path: `${directory}/${guid}`, state: "inProgress" });
			if (this.waiting.length > MOST) this.waiting.shift();
			this.#tell();
		});
		cdp.on("Browser.downloadProgress", ({ guid, state, receivedBytes, totalBytes }) => {
			const found = this.waiting.find(({ id }) => id === guid);
			const tooLarge = state === "inProgress" && Math.max(receivedBytes, totalBytes) > mostBytes;
			if (tooLarge) void this.#cancel(guid);
			if (found && found.state !== "too large") found.state = tooLarge ? "too large" : state;
			if (tooLarge || state !== "inProgress") this.#tell();
		});
	}

	/** `profile`: of the browser, in the task's place. `refused`: nothing is written at all. */
	static async watch(browser: Browser, profile: string, options: { readonly mostBytes?: number; readonly refused?: boolean } = {}): Promise<Downloads> {
		const { mostBytes = MOST_BYTES, refused = false } = options;
		const cdp = await browser.newBrowserCDPSession();
		const directory = `${profile}/downloads`;
		const downloads = new Downloads(cdp, directory, mostBytes);
		if (refused)
			await cdp.send("Browser.setDownloadBehavior", { behavior: "deny" }); // and none is told of
		else await cdp.send("Browser.setDownloadBehavior", { behavior: "allowAndName", downloadPath: directory, eventsEnabled: true });
		return downloads;
	}

	/** Waits until there are more than `known`. Returns false if none begins within `ms`. */
	async more(known: number, ms: number, signal: AbortSignal): Promise<boolean> {
		return this.#until(() => this.waiting.length > known, ms, signal);
	}

	/** Waits until a download is whole. Throws `WebError` for one that fails, or takes longer than `ms`. */
	async finished(download: Downloaded, ms: number, signal: AbortSignal): Promise<void> {
		if (!(await this.#until(() => download.state !== "inProgress", ms, signal))) {
			await this.#cancel(download.id);
			throw new WebError(`the download did not finish within ${ms / 1000} s; it was given up`);
		}
		if (download.state === "too large")
			throw new WebError("the download has more bytes than are kept, so it was given up; fetch its address with terminal (curl -LO)");
		if (download.state === "canceled") throw new WebError("the download failed: the browser has given it up, or the site has broken it off");
	}

	forget(download: Downloaded): void {
		this.waiting.splice(this.waiting.indexOf(download), 1);
	}

	async #cancel(guid: string): Promise<void> {
		await this.#cdp.send("Browser.cancelDownload", { guid }).catch(() => {}); // it has just ended
	}

	async #until(holds: () => boolean, ms: number, signal: AbortSignal): Promise<boolean> {
		const stop = anySignal([signal, AbortSignal.timeout(ms)]);
		const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
		while (!holds() && !stop.aborted) await Promise.race([new Promise<void>((resolve) => this.#changed.push(resolve)), stopped]);
		signal.throwIfAborted();
		return holds();
	}

	#tell(): void {
		for (const resolve of this.#changed.splice(0)) resolve();
	}
}
