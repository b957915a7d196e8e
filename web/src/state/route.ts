/** The current view: in the hash of the address, so that every view has a link and the back button works. */
import { computed, signal } from "@preact/signals";

export interface Route {
	/** Its parts: `#/p/proc_1/recording` is ["p", "proc_1", "recording"]. */
	readonly parts: readonly string[];
	readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
	hash.value = location.hash;
});

export const route = computed<Route>(() => {
	const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?");
	return { parts: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
});

export function href(parts: readonly string[], query: Record<string, string> = {}): string {
	const search = new URLSearchParams(query).toString();
	return `#/${parts.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

export function go(parts: readonly string[], query: Record<string, string> = {}): void {
	location.hash = href(parts, query);
}

/** An address typed by hand may be anything. */
function decode(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}
