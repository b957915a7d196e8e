/** robots.txt (RFC 9309): whether a site lets programs fetch a path, and how often. */
import { WebError } from "../base/index.js";
import { type FetchOptions, fetchUrl } from "./fetch.js";

export interface Rules {
	readonly rules: readonly { readonly allow: boolean; readonly path: string }[];
	/** Seconds between two requests. */
	readonly delay?: number;
}

const AGENT = "holdfast";
const MOST_BYTES = 500 * 1024;
const KEPT = 200;
const KEPT_MS = 3_600_000;

export function parseRobots(text: string, agent = AGENT): Rules {
	const groups: { agents: string[]; rules: { allow: boolean; path: string }[]; delay?: number }[] = [];
	let open = false;
	for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
		// The line is the site's, so no expression that goes back in it.
		const [said = ""] = line.split("#", 1);
		const colon = said.indexOf(":");
		const name = said.slice(0, Math.max(0, colon)).trim().toLowerCase();
		const value = said.slice(colon + 1).trim();
		if (name === "user-agent") {
			if (!open) groups.push({ agents: [], rules: [] });
			open = true;
			groups.at(-1)?.agents.push(value.toLowerCase());
			continue;
		}
		const group = groups.at(-1);
		if (!group || !["allow", "disallow", "crawl-delay"].includes(name)) continue;
		open = false;
		if (name === "crawl-delay") group.delay = Number(value) > 0 ? Number(value) : undefined;
		else if (value !== "") group.rules.push({ allow: name === "allow", path: value });
	}
	const ours = groups.filter(({ agents }) => agents.includes(agent));
	const chosen = ours.length > 0 ? ours : groups.filter(({ agents }) => agents.includes("*"));
	const delay = chosen.find((one) => one.delay !== undefined)?.delay;
	return { rules: chosen.flatMap(({ rules }) => rules), ...(delay === undefined ? {} : { delay }) };
}

/** The longest rule that fits decides; of two as long, the one that allows. */
export function mayFetch({ rules }: Rules, path: string): boolean {
	let best: { allow: boolean; length: number } | undefined;
	for (const { allow, path: pattern } of rules) {
		if (!fits(pattern, path)) continue;
		if (!best || pattern.length > best.length || (pattern.length === best.length && allow)) best = { allow, length: pattern.length };
	}
	return best?.allow ?? true;
}

/** `*` stands for anything, `$` for the end. Without backtracking: the pattern is the site's. */
function fits(pattern: string, path: string): boolean {
	const atEnd = pattern.endsWith("$");
	const parts = (atEnd ? pattern.slice(0, -1) : pattern).split("*");
	const [first = "", ...rest] = parts;
	if (!path.startsWith(first)) return false;
	let at = first.length;
	for (const part of rest.slice(0, -1)) {
		const found = path.indexOf(part, at);
		if (found < 0) return false;
		at = found + part.length;
	}
	const last = rest.at(-1);
	if (last === undefined) return !atEnd || path.length === at;
	return atEnd ? path.length - last.length >= at && path.endsWith(last) : path.indexOf(last, at) >= 0;
}

/** Remembers what sites say, for an hour each. */
export class Robots {
	readonly #known = new Map<string, { readonly at: number; readonly rules: Promise<Rules> }>();
	readonly #options: Pick<FetchOptions, "filter" | "limits">;

	constructor(options: Pick<FetchOptions, "filter" | "limits">) {
		this.#options = options;
	}

	/** Throws `WebError` if the site does not let programs fetch this. Returns the seconds that it wants between two requests. */
	async check(url: URL, signal?: AbortSignal): Promise<number | undefined> {
		const known = this.#known.get(url.origin);
		const fresh = known !== undefined && Date.now() - known.at < KEPT_MS;
		const rules = fresh ? known.rules : this.#load(url.origin);
		if (!fresh) {
			this.#known.set(url.origin, { at: Date.now(), rules });
			rules.catch(() => this.#known.delete(url.origin));
			for (const origin of this.#known.keys()) if (this.#known.size > KEPT) this.#known.delete(origin);
		}
		const found = await unlessOver(rules, signal);
		if (!mayFetch(found, url.pathname + url.search))
			throw new WebError(
				`${url.host} does not let programs fetch ${url.pathname.slice(0, 200)} (robots.txt); open it with browser_navigate, or use another source`,
			);
		return found.delay;
	}

	/** For all who ask meanwhile: it does not end with the call of one of them. */
	async #load(origin: string): Promise<Rules> {
		try {
			const limits = { totalMs: 10_000, ...this.#options.limits, bytes: MOST_BYTES, retries: 0 };
			const { status, bytes } = await fetchUrl(`${origin}/robots.txt`, { ...this.#options, limits });
			if (status >= 500) this.#known.delete(origin); // asked again with the next page
			if (status >= 500) return { rules: [{ allow: false, path: "/" }] };
			return status >= 400 ? { rules: [] } : parseRobots(bytes.toString("utf8"));
		} catch (error) {
			if (!(error instanceof WebError)) throw error;
			this.#known.delete(origin);
			return { rules: [] }; // what keeps it from being read keeps the page from being read too, and is said then
		}
	}
}

/** Returns what comes, or throws the reason of a signal that aborts before. */
async function unlessOver<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	if (!signal) return work;
	signal.throwIfAborted();
	const done = new AbortController();
	const over = new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: done.signal }));
	return Promise.race([work, over]).finally(() => done.abort());
}
