/** How this browser gets in: a cookie and a key after the first visit with the link, or a link that lets one look at one terminal. */
import { signal } from "@preact/signals";

const KEY = "holdfast.key";
const VIEW = "holdfast.view";

/** false: the server does not know us (any more). */
export const welcome = signal(true);

let key = read(localStorage, KEY);
let view = read(sessionStorage, VIEW);

export function headers(): Record<string, string> {
	if (view) return { Authorization: `Bearer ${view}` };
	return key ? { "X-Holdfast-Key": key } : {};
}

/** Nothing to show at the door: there is nothing to ask the server. */
export const isStranger = (): boolean => !key && !view;

export function lock(): void {
	welcome.value = false;
}

/** Takes the token of the link (and `to`, the part of the page that it leads to) out of the address at once, so that it is in no history and no screenshot. */
export function fromAddress(): { token?: string; keys?: string } {
	const match = /^#(token|view|keys)=([^&/]+)(?:&to=(\/parts\/[\w-]+))?$/.exec(location.hash) ?? /^#(token|view|keys)=([^&/]+)/.exec(location.hash);
	if (!match) return {};
	const [, kind, secret = "", to = "/"] = match;
	history.replaceState(null, "", `${location.pathname}#${to}`);
	dispatchEvent(new HashChangeEvent("hashchange"));
	if (kind === "token") {
		keepView(""); // an owner needs no read-only link
		return { token: secret };
	}
	if (kind === "keys") return { keys: secret };
	keepView(secret);
	return {};
}

export function keepKey(value: string): void {
	key = value;
	write(localStorage, KEY, value);
	welcome.value = true;
}

export function keepView(value: string): void {
	view = value;
	write(sessionStorage, VIEW, value);
}

function read(storage: Storage, name: string): string {
	try {
		return storage.getItem(name) ?? "";
	} catch {
		return "";
	}
}

function write(storage: Storage, name: string, value: string): void {
	try {
		if (value) storage.setItem(name, value);
		else storage.removeItem(name);
	} catch {
		// not kept: the link has to be opened again after a reload
	}
}
