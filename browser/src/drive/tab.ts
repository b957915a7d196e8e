/** Keeps the facts about a tab that playwright does not: its documents, its console and dialogs. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Dialog, Frame, Page, Request } from "playwright-core";
import { WebError } from "../base/index.js";

const CONSOLE = 200;
const ANSWER_MS = 5_000;
/** For a frame of a page that answers: an advertisement that is busy or does not come holds no call up. */
const FRAME_MS = 1_000;
const FRESH_MS = 3_000;
const IDLE_MS = 500;
const IDLE_LOOK_MS = 50;

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
	readonly #requests = new Set<Request>();
	/** When the last of them ended, on the clock of `performance`. */
	#quietSince = 0;
	#silent: ReadonlySet<Frame> = new Set();
	readonly #awaited = new WeakSet<Frame>();
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
			this.#requests.clear();
			this.#wake();
		});
		page.on("close", () => this.#wake());
		page.on("dialog", (dialog) => {
			this.dialog = dialog;
			this.#wake();
		});
		const ended = (request: Request): void => {
			this.#requests.delete(request);
			this.#quietSince = performance.now();
		};
		page.on("request", (request) => this.#requests.add(request));
		page.on("requestfinished", ended);
		page.on("requestfailed", ended);
		page.on("framenavigated", (frame) => {
			if (frame !== page.mainFrame()) return;
			this.crashed = false;
			options.visited(frame.url());
		});
		options.visited(page.url());
	}

	/** Those that have a document. One whose first answer is still to come, or was refused, would never answer what it is asked. */
	frames(): Frame[] {
		return this.page.frames().filter((frame) => frame === this.page.mainFrame() || frame.url() !== "");
	}

	/** Returns what each frame answers; undefined for one that does not. The page itself must answer. Throws `BusyPage`. */
	async askFrames<T>(ask: (frame: Frame) => Promise<T>): Promise<(T | undefined)[]> {
		const frames = this.frames();
		const asked = frames.map((frame) =>
			(frame === this.page.mainFrame() ? ask(frame) : Promise.race([ask(frame), sleep(FRAME_MS)])).then(
				(answer) => answer ?? undefined,
				() => undefined, // a navigation took its document away
			),
		);
		const answers = await this.answers(Promise.all(asked));
		this.#silent = new Set(frames.filter((_, at) => answers[at] === undefined));
		return answers;
	}

	/** Frames that did not answer, or have no document yet: a snapshot would wait for them in vain. */
	silentFrames(): Frame[] {
		return this.page.frames().filter((frame) => frame !== this.page.mainFrame() && (frame.url() === "" || this.#silent.has(frame)));
	}

	/** How long a snapshot may wait for silent frames: most come in a moment, and one that did not is not waited for so long again. Undefined: there are none. */
	patienceMs(): number | undefined {
		const silent = this.silentFrames();
		const fresh = silent.filter((frame) => !this.#awaited.has(frame));
		for (const frame of fresh) this.#awaited.add(frame);
		return fresh.length > 0 ? FRESH_MS : silent.length > 0 ? FRAME_MS : undefined;
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

	/**
	 * Resolves when the page has asked for nothing for a while, counted from now at the earliest. Playwright's `networkidle` comes once for a document: what an
	 * action asks for later it does not wait for.
	 */
	async untilIdle(signal: AbortSignal): Promise<void> {
		const began = performance.now();
		for (;;) {
			const left = this.#requests.size > 0 ? IDLE_MS : IDLE_MS - (performance.now() - Math.max(began, this.#quietSince));
			if (left <= 0) return;
			await sleep(Math.min(left, IDLE_LOOK_MS), undefined, { signal });
		}
	}

	/** Resolves when a dialog opens or the tab crashes or is closed. */
	interrupted(): Promise<void> {
		return new Promise((resolve) => this.#waiting.push(resolve));
	}

	#wake(): void {
		for (const resolve of this.#waiting.splice(0)) resolve();
	}
}

/** Returns the frame in a ref of playwright's. */
export const frameOf = (inner: string): string => /^f\d+(?=e)/.exec(inner)?.[0] ?? "";
