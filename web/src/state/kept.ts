/** A choice that this browser remembers. Where it may not, it lasts as long as the page. */
import { effect, type Signal, signal } from "@preact/signals";

export function kept(name: string, fallback: string): Signal<string> {
	const key = `holdfast.${name}`;
	const value = signal(read(key) ?? fallback);
	effect(() => {
		try {
			localStorage.setItem(key, value.value);
		} catch {
			// private windows may refuse: nothing depends on it
		}
	});
	return value;
}

function read(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}
