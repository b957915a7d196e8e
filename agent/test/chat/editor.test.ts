import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { complete } from "../../src/chat/line/complete.js";
import { LineEditor, type Pressed } from "../../src/chat/line/editor.js";
import { InputHistory } from "../../src/chat/line/history.js";
import { KeyDecoder } from "../../src/chat/line/keys.js";

let dir = "";
beforeEach(() => {
	dir = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? os.tmpdir(), "editor-"));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

interface Typed {
	readonly editor: LineEditor;
	readonly pressed: Pressed[];
	readonly shown: string;
}

function editorOf(history = new InputHistory(), waiting: string[] = [], options: { single?: boolean } = {}): LineEditor {
	const editor: LineEditor = new LineEditor(
		history,
		{
			takeBack: () => {
				const text = waiting.pop();
				if (text !== undefined) editor.prepend(text);
				return text !== undefined;
			},
			complete: (before) =>
				complete(before, { commands: ["help", "model", "models"], words: (name) => (name === "model" ? ["big", "small"] : undefined), directory: dir }),
		},
		options,
	);
	return editor;
}

function type(editor: LineEditor, ...chunks: string[]): Typed {
	const keys = new KeyDecoder();
	const pressed = chunks.flatMap((chunk) => [...keys.push(chunk), ...keys.flush()].flatMap((key) => editor.press(key) ?? []));
	return { editor, pressed, shown: screen(editor) };
}

/** The rows, with | where the cursor is. */
function screen(editor: LineEditor, columns = 80, most = 10): string {
	const { rows, row, column } = editor.laid("> ", { columns, most });
	return rows.map((text, at) => (at === row ? `${text.slice(0, column)}|${text.slice(column)}` : text)).join("\n");
}

describe("the line editor", () => {
	it("moves and kills as readline does", () => {
		const editor = editorOf();
		expect(type(editor, "one two three").shown).toBe("> one two three|");
		expect(type(editor, "\u001bb").shown).toBe("> one two |three");
		expect(type(editor, "\u0017").shown).toBe("> one |three");
		expect(type(editor, "\u0019").shown).toBe("> one two |three");
		expect(type(editor, "\u0001\u000b").shown).toBe("> |");
		expect(type(editor, "\u0019\u001b[D\u007f").shown).toBe("> one two thr|e");
		expect(type(editor, "\u0014").shown).toBe("> one two ther|");
		expect(type(editor, "\u0015").shown).toBe("> |");
	});

	it("moves by letters as people see them", () => {
		const editor = editorOf();
		type(editor, "a👩‍👩‍👧é漢");
		expect(type(editor, "\u007f\u007f\u007f").shown).toBe("> a|");
	});

	it("breaks lines with Ctrl-J, with a backslash, and with a paste; Enter sends them all", () => {
		const { pressed, editor } = type(editorOf(), "a\nb\\\rc", "\u001b[200~d\re\u001b[201~");
		expect(screen(editor)).toBe("> a\n  b\n  cd\n  e|");
		expect(pressed).toEqual([]);
		expect(type(editor, "\u001b[A\u001b[Ax\r").pressed).toEqual([{ type: "enter", text: "a\nbx\ncd\ne", queue: false }]);
	});

	it("shows a long paste as one thing, which one Backspace removes, and sends all of it", () => {
		const long = Array.from({ length: 120 }, (_, at) => `line ${at}`).join("\n");
		const paste = `\u001b[200~${long}\u001b[201~`;
		const editor = editorOf();
		expect(type(editor, "see ", paste).shown).toBe("> see [pasted 120 lines]|");
		expect(type(editor, "\u007f", paste, "!").shown).toBe("> see [pasted 120 lines]!|");
		expect(type(editor, "\r").pressed).toEqual([{ type: "enter", text: `see ${long}!`, queue: false }]);
	});

	it("shows the rows around the cursor of a draft that is longer than its room", () => {
		const editor = editorOf();
		type(editor, Array.from({ length: 8 }, (_, at) => String(at)).join("\n"));
		expect(screen(editor, 80, 3)).toBe("  5\n  6\n  7|");
		type(editor, ...("\u001b[A".repeat(7).match(/\u001b\[A/g) ?? []));
		expect(screen(editor, 80, 3)).toBe("> 0|\n  1\n  2");
		type(editor, "\u0001", "x".repeat(12));
		expect(screen(editor, 10, 10).split("\n").slice(0, 2)).toEqual(["> xxxxxxx", "  xxxxx|0"]);
	});

	it("gives back a message that waits before it goes through the history", () => {
		const history = new InputHistory();
		history.add("old");
		const editor = editorOf(history, ["waits"]);
		expect(type(editor, "\u001b[A").shown).toBe("> waits|");
		expect(type(editor, "\u0015", "new", "\u001b[A").shown).toBe("> old|");
		expect(type(editor, "\u001b[B").shown).toBe("> new|");
	});

	it("keeps the history in a file for its owner alone, without lines that begin with a space", () => {
		const file = path.join(dir, "history");
		const editor = editorOf(new InputHistory(file));
		type(editor, "one\r", "two\nlines\r", " hidden\r", "one\r", "one\r");
		expect(fs.readFileSync(file, "utf8")).toBe('"one"\n"two\\nlines"\n"one"\n');
		expect(fs.statSync(file).mode & 0o777).toBe(0o600);
		fs.appendFileSync(file, '"half');
		const next = editorOf(new InputHistory(file));
		expect(type(next, "\u001b[A\u001b[A").shown).toBe("> two\n  lines|");
	});

	it("gives back a long text that was dropped, and keeps it out of the file", () => {
		const file = path.join(dir, "long-history");
		const editor = editorOf(new InputHistory(file));
		const long = "word\n".repeat(5_000);
		type(editor, "short\r", `\u001b[200~${long}first\u001b[201~`);
		editor.drop();
		type(editor, `\u001b[200~${long}last\u001b[201~`);
		editor.drop();
		expect(type(editor, "\u001b[A", "\r").pressed).toEqual([{ type: "enter", text: `${long}last`, queue: false }]);
		expect(type(editor, "\u001b[A\u001b[A").shown).toBe("> short|");
		expect(fs.readFileSync(file, "utf8")).toBe('"short"\n');
	});

	it("searches the history with Ctrl-R", () => {
		const history = new InputHistory();
		for (const line of ["make test", "git push", "make all"]) history.add(line);
		const editor = editorOf(history);
		expect(type(editor, "\u0012mak").shown).toBe('search "mak": |make all');
		expect(type(editor, "\u0012").shown).toBe('search "mak": |make test');
		expect(type(editor, "\r").shown).toBe("> make test|");
		expect(type(editor, "\u0012push\u001b").shown).toBe("> make test|");
	});

	it("completes commands, their words and paths", () => {
		fs.mkdirSync(path.join(dir, "src dir"));
		fs.writeFileSync(path.join(dir, "src dir", "a.ts"), "");
		fs.writeFileSync(path.join(dir, ".hidden"), "");
		const editor = editorOf();
		expect(type(editor, "/mo\t").shown).toBe("> /model|");
		expect(type(editor, "\t").pressed).toEqual([{ type: "options", words: ["model", "models"] }]);
		expect(type(editor, " s\t").shown).toBe("> /model small |");
		expect(type(editor, "\u0015look at ./s\t").shown).toBe("> look at ./src\\ dir/|");
		expect(type(editor, "\t").shown).toBe("> look at ./src\\ dir/a.ts |");
		expect(type(editor, "\u0015!cat sr\t").shown).toBe("> !cat src\\ dir/|");
		expect(type(editor, "\u0015a word\t").shown).toBe("> a word|");
	});

	it("says what Enter, Escape, Ctrl-C and Ctrl-D mean", () => {
		const editor = editorOf();
		expect(type(editor, "\u001b", "\u0003", "\u0004").pressed).toEqual([
			{ type: "interrupt", key: "escape" },
			{ type: "interrupt", key: "ctrl+c" },
			{ type: "leave" },
		]);
		expect(type(editor, "later\u001b\r").pressed).toEqual([{ type: "enter", text: "later", queue: true }]);
		expect(type(editor, "ab\u0001\u0004").shown).toBe("> |b");
	});

	it("takes an answer as one line, a backslash and all", () => {
		const editor = editorOf(new InputHistory(), [], { single: true });
		expect(type(editor, "pass\u001b[200~wo\rrd\u001b[201~\\\r").pressed).toEqual([{ type: "enter", text: "password\\", queue: false }]);
	});
});
