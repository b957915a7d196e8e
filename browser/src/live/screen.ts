/** The picture of a browser: frames of the tab in front as lines of JSON. It follows the agent and the person from tab to tab. */
import { messageOf } from "../base/index.js";
import type { LiveBrowser } from "./browsers.js";
import type { LiveConnection, LiveTab } from "./cdp.js";

const SCREENCAST = { format: "jpeg", quality: 60, maxWidth: 1280, maxHeight: 900 };
const LOOK_MS = 2_000;
const MOST_WAITING = 3; // frames that a slow viewer has not read

export interface ScreenOptions {
	readonly browser: LiveBrowser;
	/** False: the viewer may look no longer. */
	readonly isStillValid: () => boolean;
	/** Returns the person who has taken over. */
	readonly holder: () => string | undefined;
	readonly signal: AbortSignal;
}

/** A viewer that is slow misses frames, and the last is always sent. */
export function screenOf({ browser, isStillValid, holder, signal }: ScreenOptions): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	let shown: { readonly tab: LiveTab; readonly connection: LiveConnection } | undefined;
	let over = false;
	let timer: NodeJS.Timeout | undefined;
	const stop = (): void => {
		over = true;
		clearTimeout(timer);
		shown?.connection.close();
		shown = undefined;
	};
	signal.addEventListener("abort", stop, { once: true });
	return new ReadableStream<Uint8Array>(
		{
			async start(controller) {
				const say = (line: object): void => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
				const finish = (): void => {
					stop();
					try {
						controller.close();
					} catch {
						// the viewer was faster
					}
				};
				const show = async (tab: LiveTab): Promise<void> => {
					shown?.connection.close();
					const connection = browser.connect(tab);
					shown = { tab, connection };
					if (over) return connection.close();
					connection.onEvent = (method, params) => {
						if (method !== "Page.screencastFrame" || over) return;
						void connection.send("Page.screencastFrameAck", { sessionId: params.sessionId }).catch(() => {});
						if (!isStillValid()) return finish();
						if ((controller.desiredSize ?? 0) <= 0) return;
						const { deviceWidth, deviceHeight } = params.metadata as { deviceWidth: number; deviceHeight: number };
						say({ data: params.data, width: deviceWidth, height: deviceHeight, held: holder(), url: shown?.tab.url });
					};
					await connection.send("Page.enable");
					await connection.send("Page.startScreencast", SCREENCAST);
				};
				const follow = async (): Promise<void> => {
					if (over || !isStillValid()) return finish(); // a page that stands still sends no frames
					try {
						const [front] = await browser.tabs();
						if (front && !over && (front.id !== shown?.tab.id || shown.connection.isClosed)) await show(front);
						if (!front) return finish();
					} catch (error) {
						if (over) return finish();
						say({ problem: messageOf(error) });
						return finish();
					}
					if (!over) timer = setTimeout(() => void follow(), LOOK_MS);
				};
				await follow();
			},
			cancel: stop,
		},
		{ highWaterMark: MOST_WAITING },
	);
}
