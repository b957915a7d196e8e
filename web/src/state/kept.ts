/** A choice that this browser remembers. Where it may not, it lasts as long as the page. */
import { computed, effect, type Signal, signal } from "@preact/signals";

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

const MOST = 500;

export interface KeptSet {
	has(item: string): boolean;
	toggle(item: string): void;
}

/** Several choices of one kind; the oldest of very many are forgotten. */
export function keptSet(name: string): KeptSet {
	const text = kept(name, "[]");
	const items = computed<readonly string[]>(() => listIn(text.value));
	return {
		has: (item) => items.value.includes(item),
		toggle: (item) => {
			const others = items.value.filter((other) => other !== item);
			text.value = JSON.stringify(others.length < items.value.length ? others : [...others, item].slice(-MOST));
		},
	};
}

/** Stored values are checked: another program may have written them. */
function listIn(text: string): string[] {
	try {
		const found: unknown = JSON.parse(text);
		return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
	} catch {
		return [];
	}
}
