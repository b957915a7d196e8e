/** Hides pages and downloads from the model because of their origin, unless a person was asked. */
import { oneLine } from "../base/index.js";
import { hostOf, isLinkLocal } from "../net/index.js";
import type { BrowserSession } from "./session.js";
import type { Tab } from "./tab.js";

/** Returns why the page is not shown to the model: a document in it is of the machine, or has to do with a link-local address, and no person was asked. */
export async function hiddenPage(tab: Tab, seen: Seen): Promise<string | undefined> {
	for (const frame of tab.page.frames()) {
		const url = frame.url();
		const name = localName(url);
		const why =
			(name !== undefined && seen.policy.local_urls !== "allow" && !seen.permitted.has(name)
				? `${oneLine(url, 200)} was not opened by browser_navigate, and shows files or settings of the machine`
				: undefined) ?? fromLinkLocal(url, await seen.addresses.ofFrame(frame), seen);
		if (why !== undefined) return `${why}, so the page is not shown. Open this address with browser_navigate to have a person asked, or another page`;
		const asked = isPermitted(hostIn(url), seen) ? undefined : seen.addresses.askedBy(frame);
		if (asked !== undefined)
			return `scripts of ${oneLine(hostIn(url) || tab.page.url(), 200)} have fetched from ${asked}, where metadata servers are, so the page is not shown. Open another page; a person can allow it in web.json (browser.policy.private_hosts)`;
	}
	return undefined;
}

/** Returns the subject of a question about a URL that leads into the machine: a file, or a page of the browser; undefined for other URLs. */
export function localName(url: string): string | undefined {
	const inner = url.replace(/^view-source:/, "");
	if (!/^(file|chrome|devtools|chrome-extension|filesystem):/.test(inner) || !URL.canParse(inner)) return undefined;
	const { protocol, host, pathname } = new URL(inner);
	return protocol === "file:" ? `file:${pathname}` : `${protocol}//${host}`;
}

/** Returns why a download is not kept. */
export async function hiddenDownload(url: string, seen: Seen): Promise<string | undefined> {
	const why = fromLinkLocal(url, await seen.addresses.ofUrl(url), seen);
	return why && `${why}, so the download is not kept`;
}

type Seen = Pick<BrowserSession, "policy" | "permitted" | "addresses">;

function fromLinkLocal(url: string, from: string | undefined, seen: Seen): string | undefined {
	const host = hostIn(url);
	if (isPermitted(host, seen)) return undefined;
	const address = [host, from ?? ""].find(isLinkLocal);
	return address && `${oneLine(url, 200)} came from ${address}, where metadata servers are`;
}

const isPermitted = (host: string, { policy, permitted }: Seen): boolean => policy.private_hosts === "allow" || permitted.has(host);

const hostIn = (url: string): string => (/^https?:/.test(url) ? hostOf(new URL(url)) : "");
