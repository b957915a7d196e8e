/** Which addresses documents and downloads came from, as far as this program has seen it. */
import type { BrowserContext, Frame, Response } from "playwright-core";

const MOST = 500;

export class Addresses {
	readonly #ofFrames = new WeakMap<Frame, Promise<string | undefined>>();
	/** Without what is behind `#`. Of downloads, and of tabs that are so new that their first answer has no frame yet. */
	readonly #ofUrls = new Map<string, Promise<string | undefined>>();

	constructor(context: BrowserContext) {
		context.on("response", (response) => {
			if (!response.request().isNavigationRequest()) return;
			const address = response.serverAddr().then(
				(found) => found?.ipAddress.replace(/^\[|\]$/g, ""),
				() => undefined,
			);
			const url = plain(response.url());
			this.#ofUrls.delete(url);
			this.#ofUrls.set(url, address);
			for (const oldest of this.#ofUrls.keys()) if (this.#ofUrls.size > MOST) this.#ofUrls.delete(oldest);
			const frame = frameOf(response);
			if (frame) this.#ofFrames.set(frame, address);
		});
	}

	async ofFrame(frame: Frame): Promise<string | undefined> {
		return this.#ofFrames.get(frame) ?? this.ofUrl(frame.url());
	}

	async ofUrl(url: string): Promise<string | undefined> {
		return this.#ofUrls.get(plain(url));
	}
}

const plain = (url: string): string => url.replace(/#.*$/s, "");

function frameOf(response: Response): Frame | undefined {
	try {
		return response.frame();
	} catch {
		return undefined; // the first answer in a new tab
	}
}
