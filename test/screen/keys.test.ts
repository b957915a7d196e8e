import { expect, test } from "vitest";
import { encodeKeys } from "../../src/screen/index.js";

const sent = (text: string, modes = {}) => encodeKeys(text, modes).toString("latin1");

test.each([
	["<ESC>", "\x1b"],
	["<ESCAPE>", "\x1b"],
	["<ENTER>", "\r"],
	["<RETURN>", "\r"],
	["<TAB>", "\t"],
	["<SHIFT+TAB>", "\x1b[Z"],
	["<BACKSPACE>", "\x7f"],
	["<SPACE>", " "],
	["<DELETE>", "\x1b[3~"],
	["<DEL>", "\x1b[3~"],
	["<INSERT>", "\x1b[2~"],
	["<INS>", "\x1b[2~"],
	["<UP><DOWN><RIGHT><LEFT>", "\x1b[A\x1b[B\x1b[C\x1b[D"],
	["<HOME><END>", "\x1b[H\x1b[F"],
	["<PAGEUP><PAGEDOWN>", "\x1b[5~\x1b[6~"],
	["<PGUP><PGDN>", "\x1b[5~\x1b[6~"],
	["<F1><F2><F3><F4>", "\x1bOP\x1bOQ\x1bOR\x1bOS"],
	["<F5><F6><F7><F8>", "\x1b[15~\x1b[17~\x1b[18~\x1b[19~"],
	["<F9><F10><F11><F12>", "\x1b[20~\x1b[21~\x1b[23~\x1b[24~"],
	["<CTRL+C>", "\x03"],
	["<ctrl+c><Ctrl+C>", "\x03\x03"],
	["<CTRL+A><CTRL+Z>", "\x01\x1a"],
	["<CTRL+\\>", "\x1c"],
	["<CTRL+]>", "\x1d"],
	["<CTRL+^>", "\x1e"],
	["<CTRL+_>", "\x1f"],
	["<CTRL+/>", "\x1f"],
	["<CTRL+[>", "\x1b"],
	["<CTRL+?>", "\x7f"],
	["<CTRL+@><CTRL+SPACE>", "\0\0"],
	["<ALT+x><ALT+X>", "\x1bx\x1bX"],
	["<ALT+.>", "\x1b."],
	["<ALT+<><ALT+>>", "\x1b<\x1b>"],
	["<ALT++>", "\x1b+"],
	["<ALT+ENTER><ALT+BACKSPACE>", "\x1b\r\x1b\x7f"],
	["<CTRL+ALT+D>", "\x1b\x04"],
	["<C-c><Ctrl-C><ctrl-c><CTRL-\\><M-x><C-M-d>", "\x03\x03\x03\x1c\x1bx\x1b\x04"],
	["<S-TAB><C-LEFT>", "\x1b[Z\x1b[1;5D"],
	["<CTRL+LEFT><SHIFT+UP><ALT+F4><CTRL+DELETE>", "\x1b[1;5D\x1b[1;2A\x1b[1;3S\x1b[3;5~"],
])("%s is sent as a terminal sends it", (keys, bytes) => {
	expect(sent(keys)).toBe(bytes);
});

test("every letter has its control character", () => {
	for (let code = 1; code <= 26; code++) expect(sent(`<CTRL+${String.fromCharCode(64 + code)}>`)).toBe(String.fromCharCode(code));
});

test.each([
	["plain text, as it is", "echo $HOME; 'x' \"y\" \\n", "echo $HOME; 'x' \"y\" \\n"],
	["a doubled < as one", "cat <<file", "cat <file"],
	["what looks like a token after a doubled <", "<<ENTER>", "<ENTER>"],
	["a < that begins no token", "a < b && c <- d </p> <1> < ENTER > <> <x-y> <a-b> <C->", "a < b && c <- d </p> <1> < ENTER > <> <x-y> <a-b> <C->"],
	["tokens inside text", "ls<TAB><TAB> -l<ENTER>", "ls\t\t -l\r"],
	["an unfinished token at the end", "<ENTER", "<ENTER"],
	["nothing", "", ""],
])("%s", (_name, keys, bytes) => {
	expect(sent(keys)).toBe(bytes);
});

test("text is UTF-8", () => {
	expect(encodeKeys("é日😀").equals(Buffer.from("é日😀"))).toBe(true);
	expect(encodeKeys("<ALT+é>").equals(Buffer.from("\x1bé"))).toBe(true);
});

test.each(["<FOO>", "<F13>", "<CTRL+>", "<CTRL+FOO>", "<CTRL+é>", "<HYPER+A>", "<CTRL+CTRL+A>", "<SHIFT+ENTER>", "<CTRL+SHIFT+A>", "<A>", "<div>", "<ALT+>"])(
	"%s is refused by name, with what is known, and nothing is sent",
	(token) => {
		let error: unknown;
		try {
			encodeKeys(`before ${token} after<ENTER>`);
		} catch (thrown) {
			error = thrown;
		}
		expect(error).toMatchObject({ name: "HoldfastError", code: "INVALID", message: expect.stringContaining(`${token} is not a key`) });
		expect(error).toMatchObject({ message: expect.stringMatching(/known: .*<PAGEUP>/) });
		expect(error).toMatchObject({ message: expect.stringContaining(`write <${token}`) }); // how to type it all the same
	},
);

test("application cursor mode changes the cursor keys, not the others", () => {
	const modes = { applicationCursor: true };
	expect(sent("<UP><DOWN><RIGHT><LEFT><HOME><END>", modes)).toBe("\x1bOA\x1bOB\x1bOC\x1bOD\x1bOH\x1bOF");
	expect(sent("<CTRL+LEFT><PGUP><F5>x", modes)).toBe("\x1b[1;5D\x1b[5~\x1b[15~x");
});

test("bracketed paste goes around text with line breaks in it, if the program wants it", () => {
	const modes = { bracketedPaste: true };
	expect(sent("a\nb", {})).toBe("a\nb");
	expect(sent("one long line of text without any break", modes)).toBe("one long line of text without any break");
	expect(sent("a\nb", modes)).toBe("\x1b[200~a\rb\x1b[201~");
	expect(sent("a\r\nb\rc", modes)).toBe("\x1b[200~a\rb\rc\x1b[201~");
	expect(sent("i<ESC>a\nb<ENTER>c", modes)).toBe("i\x1b\x1b[200~a\rb\x1b[201~\rc");
});

test("a break at the end of a text is Enter, not part of the paste", () => {
	const modes = { bracketedPaste: true };
	expect(sent("ls\n", modes)).toBe("ls\n");
	expect(sent("a\nb\n", modes)).toBe("\x1b[200~a\rb\x1b[201~\n");
});

test("pasted text cannot end its paste", () => {
	expect(sent("a\n\x1b[201~rm", { bracketedPaste: true })).toBe("\x1b[200~a\r^[[201~rm\x1b[201~");
	expect(sent("a\n\x1b[20\x1b[201~1~rm", { bracketedPaste: true })).toBe("\x1b[200~a\r\x1b[20^[[201~1~rm\x1b[201~");
});
