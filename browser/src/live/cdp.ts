/** A plain connection to one tab, beside the one that the tools have: it must not change how downloads and dialogs are handled there. */
import { WebSocket } from "undici";
import { WebError } from "../base/index.js";

export interface LiveTab {
	readonly id: string;
	readonly url: string;
	readonly title: string;
}

/** The tabs of a browser, the one in front first. */
export async function liveTabs(port: number): Promise<LiveTab[]> {
	const answer = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(5_000) }).catch(() => {
		throw new WebError("the browser is closed, or does not answer");
	});
	const list = (await answer.json()) as (LiveTab & { type: string })[];
	return list.filter(({ type }) => type === "page").map(({ id, url, title }) => ({ id, url, title }));
}

export class LiveConnection {
	readonly #socket: WebSocket;
	readonly #open: Promise<void>;
	#next = 1;
	onEvent: (method: string, params: Record<string, unknown>) => void = () => {};
	isClosed = false;

	constructor(url: string) {
		this.#socket = new WebSocket(url);
		this.#open = new Promise((resolve, reject) => {
			this.#socket.addEventListener("open", () => resolve());
			this.#socket.addEventListener("error", () => reject(new WebError("the tab cannot be reached")));
		});
		this.#open.catch(() => {}); // told by the first `send`
		this.#socket.addEventListener("message", ({ data }) => {
			const { method, params } = JSON.parse(String(data)) as { method?: string; params?: Record<string, unknown> };
			if (method !== undefined) this.onEvent(method, params ?? {});
		});
		this.#socket.addEventListener("close", () => {
			this.isClosed = true;
		});
	}

	async send(method: string, params: object = {}): Promise<void> {
		await this.#open;
		this.#socket.send(JSON.stringify({ id: this.#next++, method, params }));
	}

	close(): void {
		this.#socket.close();
	}
}
