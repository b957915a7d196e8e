/** Bytes of a terminal, as keys. A bracketed paste is one key, whatever is in it. */

export interface Key {
	/** `text`, `paste`, or what it is called: `enter`, `alt+enter`, `ctrl+c`, `up`. */
	readonly name: string;
	readonly text?: string;
}

const PASTE_BEGINS = "\u001b[200~";
const PASTE_ENDS = "\u001b[201~";
/** CSI and SS3 sequences, a key after Escape, a control, or text. */
const TOKEN = /^(?:\u001b(?:\[\[?[0-9;:<=>?]*[ -/]*[@-~]|O[@-~]|[^\u001b])|[\u0000-\u001f\u007f]|[^\u0000-\u001f\u007f]+)/u;
/** Bytes that may become a longer sequence with the next ones. */
const HALF = /^\u001b(?:\[\[?[0-9;:<=>?]*[ -/]*|O)?$/;

const FINALS: Readonly<Record<string, string>> = { A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", Z: "shift+tab", M: "enter" };
const NUMBERS: Readonly<Record<string, string>> = { 1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end" };
const CODES: Readonly<Record<string, string>> = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };
const CONTROLS: Readonly<Record<string, string>> = { "\r": "enter", "\n": "ctrl+j", "\t": "tab", "\u007f": "backspace", "\b": "backspace", "\u001b": "escape" };

export class KeyDecoder {
	#rest = "";
	/** Parts of a paste whose end has not come. */
	#paste: string[] | undefined;

	push(chunk: string): Key[] {
		const keys: Key[] = [];
		let text = this.#rest + chunk;
		this.#rest = "";
		while (text !== "") {
			if (this.#paste) text = this.#pasted(text, keys);
			else if (text.startsWith(PASTE_BEGINS)) {
				this.#paste = [];
				text = text.slice(PASTE_BEGINS.length);
			} else {
				const token = TOKEN.exec(text)?.[0];
				if (token === undefined || HALF.test(token)) {
					this.#rest = text;
					break;
				}
				keys.push(keyOf(token));
				text = text.slice(token.length);
			}
		}
		return keys;
	}

	/** Something was begun that may still become longer: after a moment of silence it is what it is. */
	get waits(): boolean {
		return this.#rest !== "" && !this.#paste;
	}

	flush(): Key[] {
		const rest = this.#rest;
		this.#rest = "";
		if (rest === "") return [];
		return rest === "\u001b" ? [{ name: "escape" }] : [{ name: "escape" }, ...this.push(rest.slice(1))];
	}

	#pasted(text: string, keys: Key[]): string {
		const end = text.indexOf(PASTE_ENDS);
		if (end < 0) {
			const held = tailOf(text);
			this.#paste?.push(text.slice(0, text.length - held.length));
			this.#rest = held;
			return "";
		}
		keys.push({ name: "paste", text: [...(this.#paste ?? []), text.slice(0, end)].join("").replace(/\r\n?/g, "\n") });
		this.#paste = undefined;
		return text.slice(end + PASTE_ENDS.length);
	}
}

/** The beginning of the closing mark at the end of a chunk. */
function tailOf(text: string): string {
	for (let length = Math.min(PASTE_ENDS.length - 1, text.length); length > 0; length--)
		if (PASTE_ENDS.startsWith(text.slice(-length))) return text.slice(-length);
	return "";
}

function keyOf(token: string): Key {
	const sequence = /^\u001b(?:\[|O)([0-9;]*)([@-~])$/.exec(token);
	if (sequence) return { name: sequenceName(sequence[1] as string, sequence[2] as string) };
	if (token.length > 1 && token.startsWith("\u001b")) {
		const { name, text } = keyOf(token.slice(1));
		return { name: `alt+${name === "text" ? (text ?? "").toLowerCase() : name}` };
	}
	const control = CONTROLS[token];
	if (control) return { name: control };
	if (token < " ") return { name: `ctrl+${String.fromCharCode((token.codePointAt(0) as number) + 96)}` };
	return { name: "text", text: token };
}

/** `1;5C`: the second number says which of shift (1), alt (2), ctrl (4) is held; `13;2u` and `27;2;13~` are keys by their code. */
function sequenceName(parameters: string, final: string): string {
	const [first = "", second = "", third = ""] = parameters.split(";");
	const byCode = final === "u" ? first : final === "~" && first === "27" ? third : undefined;
	const base = byCode !== undefined ? (CODES[byCode] ?? `code${byCode}`) : final === "~" ? (NUMBERS[first] ?? `key${first}`) : (FINALS[final] ?? `key${final}`);
	const held = Math.max(0, Number(second || 1) - 1);
	const names = [held & 4 ? "ctrl+" : "", held & 2 ? "alt+" : "", held & 1 ? "shift+" : ""].join("");
	return `${names}${base}`;
}
