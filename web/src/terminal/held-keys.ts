/** Ctrl and Alt of a phone: pressed once, they hold for the next key. */
import { signal } from "@preact/signals";

export class HeldKeys {
	readonly ctrl = signal(false);
	readonly alt = signal(false);

	/** Returns the bytes for this key with the held modifiers, and releases them. */
	with(key: string): string {
		const sent = `${this.alt.value ? "\x1b" : ""}${this.ctrl.value ? controlled(key) : key}`;
		this.ctrl.value = false;
		this.alt.value = false;
		return sent;
	}
}

/** Ctrl turns a letter and a few signs into a control character, and adds itself to a cursor key as terminals do (CSI 1 ; 5 C). */
function controlled(key: string): string {
	const cursor = /^\x1b(?:\[|O)([A-DHF])$/.exec(key)?.[1];
	if (cursor) return `\x1b[1;5${cursor}`;
	if (key === " ") return "\0";
	if (key === "?") return "\x7f";
	return /^[a-zA-Z@[\\\]^_]$/.test(key) ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 0x1f) : key;
}
