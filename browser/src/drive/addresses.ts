/** Which addresses documents and downloads came from and scripts have asked, as far as this program has seen it. */
import type { BrowserContext, Frame, Request, Response } from "playwright-core";
import { isLinkLocal } from "../net/index.js";

const MOST = 500;

export class Addresses {
	readonly #ofFrames = new WeakMap<Frame, Promise<string | undefined>>();
	/** Without what is behind `#`. Of downloads, and of tabs that are so new that their first answer has no frame yet. */
	readonly #ofUrls = new Map<string, Promise<string | undefined>>();
	/** Link-local addresses that pages of an origin have asked: what they were told may be in any page of it from then on. */
	readonly #askedBy = new Map<string, string>();

	constructor(context: BrowserContext) {
		context.on("response", (response) => {
			const address = response.serverAddr().then(
				(found) => found?.ipAddress.replace(/^\[|\]$/g, ""),
				() => undefined,
			);
			const request = response.request();
			const frame = frameOf(response);
			if (!request.isNavigationRequest()) {
				const origins = [...originsOf(frame), ...workerOrigins(request)];
				void address.then((found) => {
					if (found !== undefined && isLinkLocal(found)) for (const origin of origins) remember(this.#askedBy, origin, found);
				});
				return;
			}
			remember(this.#ofUrls, plain(response.url()), address);
			if (frame) this.#ofFrames.set(frame, address);
		});
	}

	async ofFrame(frame: Frame): Promise<string | undefined> {
		return this.#ofFrames.get(frame) ?? this.ofUrl(frame.url());
	}

	async ofUrl(url: string): Promise<string | undefined> {
		return this.#ofUrls.get(plain(url));
	}

	/** Returns the link-local address that pages of a frame's origin have asked. */
	askedBy(frame: Frame): string | undefined {
		return this.#askedBy.get(originOf(frame.url()));
	}
}

function remember<T>(known: Map<string, T>, name: string, value: T): void {
	known.delete(name);
	known.set(name, value);
	for (const oldest of known.keys()) if (known.size > MOST) known.delete(oldest);
}

const plain = (url: string): string => url.replace(/#.*$/s, "");

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "");

/** Returns the origins of a frame and those around it: a frame of `data:` or `srcdoc` has none of its own. */
function originsOf(frame: Frame | undefined): string[] {
	const origins: string[] = [];
	for (let at: Frame | null | undefined = frame; at; at = at.parentFrame()) origins.push(originOf(at.url()));
	return origins.filter((origin) => /^https?:/.test(origin));
}

function workerOrigins(request: Request): string[] {
	const worker = request.serviceWorker();
	return worker ? [originOf(worker.url())] : [];
}

function frameOf(response: Response): Frame | undefined {
	try {
		return response.frame();
	} catch {
		return undefined; // the first answer in a new tab, or one to a service worker
	}
}
