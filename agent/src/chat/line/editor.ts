/** The line that a person types into: the draft, its history and search, completion, long pastes. No terminal yet: keys in, and what they mean out. */
import { oneLine, visible } from "../render/visible.js";
import { type Completion, commonStart } from "./complete.js";
import { type Draft, draftOf, edited, emptyDraft, insert, moved, replaceBefore } from "./edit.js";
import type { InputHistory } from "./history.js";
import type { Key } from "./keys.js";
import { type Laid, layout } from "./layout.js";
import { Pastes } from "./pastes.js";

/** The meaning of a key, besides a change of the draft. */
export type Pressed =
	| { readonly type: "enter"; readonly text: string; readonly queue: boolean }
	| { readonly type: "interrupt"; readonly key: "escape" | "ctrl+c" }
	| { readonly type: "leave" | "clear" | "suspend" }
	/** Several words would complete the one before the cursor. */
	| { readonly type: "options"; readonly words: readonly string[] };

export interface EditorHelp {
	/** True: a message that waits is about to come back. */
	takeBack(): boolean;
	complete(before: string): Completion | undefined;
}

export class LineEditor {
	readonly #history: InputHistory;
	readonly #help: EditorHelp;
	readonly #single: boolean;
	readonly #pastes = new Pastes();
	#draft: Draft = emptyDraft;
	#search: { readonly text: string; readonly skip: number } | undefined;

	/** `single`: an answer, which is one line. */
	constructor(history: InputHistory, help: EditorHelp, { single = false }: { single?: boolean } = {}) {
		this.#history = history;
		this.#help = help;
		this.#single = single;
	}

	get isEmpty(): boolean {
		return this.#draft.text === "";
	}

	/** Takes the draft away; what was typed can be had again with the up-arrow. */
	drop(): void {
		this.#history.add(this.#pastes.expand(this.#draft.text));
		this.#draft = emptyDraft;
	}

	/** Puts text before what is typed; a long one as a paste. */
	prepend(text: string): void {
		const put = this.#pastes.take(text);
		this.#draft = draftOf(this.isEmpty ? put : `${put}\n${this.#draft.text}`);
	}

	append(text: string): void {
		const put = this.#pastes.take(text);
		this.#draft = draftOf(this.isEmpty ? put : `${this.#draft.text}\n${put}`);
	}

	press(key: Key): Pressed | undefined {
		if (this.#search && !this.#searching(key)) return undefined;
		switch (key.name) {
			case "enter":
			case "alt+enter":
				return this.#enter(key.name === "alt+enter");
			case "escape":
			case "ctrl+c":
				return { type: "interrupt", key: key.name };
			case "ctrl+d":
				if (this.isEmpty) return { type: "leave" };
				break;
			case "ctrl+l":
				return { type: "clear" };
			case "ctrl+z":
				return { type: "suspend" };
			case "up":
			case "ctrl+p":
				this.#up();
				return undefined;
			case "down":
			case "ctrl+n":
				this.#down();
				return undefined;
			case "ctrl+r":
				this.#search = { text: "", skip: 0 };
				return undefined;
			case "tab":
				return this.#complete();
			case "paste":
				this.#change(insert(this.#draft, this.#single ? visible(key.text ?? "").replaceAll("\n", "") : this.#pastes.take(visible(key.text ?? ""))));
				return undefined;
		}
		const next = edited(this.#draft, key.text === undefined ? key : { ...key, text: Pastes.clean(key.text) });
		if (next) this.#change(next);
		return undefined;
	}

	laid(prompt: string, size: { readonly columns: number; readonly most: number }): Laid {
		if (!this.#search) return layout(this.#draft.text, this.#draft.cursor, { ...size, prompt, show: (letter) => this.#pastes.label(letter) });
		const found = this.#history.search(this.#search.text, this.#search.skip) ?? "";
		return layout(oneLine(found, size.columns), 0, { ...size, prompt: `search "${this.#search.text}": ` });
	}

	#change(draft: Draft): void {
		if (draft.text !== this.#draft.text) this.#history.reset();
		this.#draft = draft;
	}

	/** A backslash before Enter makes a line break, as in a shell. */
	#enter(queue: boolean): Pressed | undefined {
		const { text, cursor, killed } = this.#draft;
		if (!this.#single && text.endsWith("\\") && cursor === text.length) {
			this.#draft = draftOf(`${text.slice(0, -1)}\n`);
			return undefined;
		}
		const whole = this.#pastes.expand(text);
		this.#history.add(whole);
		this.#draft = { ...emptyDraft, killed };
		return { type: "enter", text: whole, queue };
	}

	#up(): void {
		const up = moved(this.#draft, -1);
		const text = up || (this.isEmpty && this.#help.takeBack()) ? undefined : this.#history.go(-1, this.#draft.text);
		if (up) this.#draft = up;
		else if (text !== undefined) this.#draft = draftOf(this.#pastes.take(text));
	}

	#down(): void {
		const down = moved(this.#draft, 1);
		const text = down ? undefined : this.#history.go(1, this.#draft.text);
		if (down) this.#draft = down;
		else if (text !== undefined) this.#draft = draftOf(this.#pastes.take(text));
	}

	/** Keys while the history is searched. True: the key is for the line, with what was found in it. */
	#searching(key: Key): boolean {
		const { text, skip } = this.#search as { text: string; skip: number };
		const found = this.#history.search(text, skip);
		switch (key.name) {
			case "text":
				this.#search = { text: text + key.text, skip: 0 };
				return false;
			case "backspace":
				this.#search = { text: text.slice(0, -1), skip: 0 };
				return false;
			case "ctrl+r":
				if (this.#history.search(text, skip + 1) !== undefined) this.#search = { text, skip: skip + 1 };
				return false;
		}
		this.#search = undefined;
		const given = key.name !== "escape" && key.name !== "ctrl+c";
		if (given && found !== undefined) this.#draft = draftOf(this.#pastes.take(found));
		return given && key.name !== "enter" && key.name !== "tab";
	}

	#complete(): Pressed | undefined {
		const { text, cursor } = this.#draft;
		const found = this.#help.complete(text.slice(0, cursor));
		if (!found) return undefined;
		const [only] = found.options;
		const start = found.options.length === 1 ? `${only}${only?.endsWith("/") ? "" : " "}` : commonStart(found.options);
		if (start.length <= cursor - found.from) return { type: "options", words: found.options };
		this.#change(replaceBefore(this.#draft, found.from, start));
		return undefined;
	}
}
