/**
 * Parts of the page that other packages bring: a view with an entry in the navigation, files for the browser, and answers below `/api/parts/NAME/`, behind
 * the same guard as everything else. The core knows of a part what is here, and nothing of what it does. These are types alone: the page uses them too.
 */
export interface SitePart {
	/** In addresses: lower-case letters, digits and dashes. */
	readonly name: string;
	/** A word for the navigation; a phone shows it too. */
	readonly label: string;
	/** A drawing for the navigation: the path data of strokes on a grid of 16. */
	readonly icon?: string | undefined;
	/** The directory whose files are served below `/parts/NAME/`, without a login: code and styles, nothing else. */
	readonly files: string;
	/** The one of these files that exports `mount` (`PartModule`). With a hash in its name a browser keeps it. */
	readonly script: string;
	/** A style sheet among these files. */
	readonly style?: string | undefined;
	/** Answers a request below `/api/parts/NAME/` of a visitor with all rights; a read-only link is refused before. If it throws, the answer is 500. */
	fetch(request: Request, visit: PartVisit): Response | Promise<Response>;
	/** The site closes. */
	close?(): Promise<void>;
}

/** Facts about a request to a part, beside the request itself. */
export interface PartVisit {
	/** The path below the part: `/conversations/1`. */
	readonly path: string;
	/** False: the visitor was logged out, or the session has expired. An answer that streams must ask before it sends more, and end. */
	isStillValid(): boolean;
	/** Reads the body as JSON, of at most so many bytes (2 MiB). Another content type, text that is no JSON, and more are refused with the right status. */
	json(mostBytes?: number): Promise<unknown>;
}

/** The exports of a part's module for the browser. `E` is `HTMLElement`. */
export interface PartModule<E = unknown> {
	/** Shows the part in an element that fills the page below the navigation. Returns what takes it away again. */
	mount(element: E, host: PartHost<E>): () => void;
}

/** Services of the page for a part in it. Colours and measures are the page's custom properties (web/src/styles/tokens.css), and follow its theme. */
export interface PartHost<E = unknown> {
	/**
	 * Asks the part's own server: `path` is below `/api/parts/NAME`, `body` is sent as JSON. Resolves only to what went well; else it rejects with an error
	 * whose message is for people, and which has `status` (0: no answer) and `code`.
	 */
	request(method: string, path: string, options?: { body?: unknown; signal?: AbortSignal; headers?: Record<string, string> }): Promise<Response>;
	/** Calls `changed` with where in the part one is, `#/parts/NAME/a/b` is ["a", "b"]: now, and whenever that changes. Returns what ends it. */
	onRoute(changed: (parts: readonly string[]) => void): () => void;
	/** Returns the address of a view of the part. */
	href(parts: readonly string[]): string;
	go(parts: readonly string[]): void;
	/** Returns the address of the page's own views: a terminal, and all that a task did. */
	terminalHref(session_id: string): string;
	taskHref(task: string): string;
	/** Shows a live terminal in an element; `onLeave`: the person closes it. Returns what takes it away again. */
	mountTerminal(element: E, session_id: string, onLeave: () => void): () => void;
	/** Returns how a process is, in words; undefined if it is not in the list. `onProcesses` is called when that may have changed. */
	process(session_id: string): { readonly words: string; readonly running: boolean; readonly waits: boolean } | undefined;
	onProcesses(changed: () => void): () => void;
	/** Says something at the edge of the page; bad news stays until it is closed. */
	say(text: string, bad?: boolean): void;
}
