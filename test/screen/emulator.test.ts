/** What may come out of a program is anything; what a terminal makes of it must be bounded, and repeatable from a snapshot. */
import { expect, test } from "vitest";
import { Emulator } from "../../src/screen/emulator.js";

const SIZE = { cols: 40, rows: 10 };

async function emulator(text: string, onAnswer?: (bytes: string) => void): Promise<Emulator> {
	const made = new Emulator(SIZE, { onAnswer });
	await made.write(text);
	return made;
}

test.each([
	["erasing up to the last cell of the screen", "x\x1b[10;40H\x1b[1J", ""],
	["the same on the alternate screen", "x\x1b[?1049hy\x1b[10;40H\x1b[1J", ""],
	["inserting two thousand million lines", "one\r\ntwo\x1b[1;1H\x1b[2147483647L", ""],
	["deleting as many", "one\r\ntwo\x1b[1;1H\x1b[2147483647M", ""],
	["scrolling as far, up and down", "one\x1b[2147483647S\x1b[2147483647T", ""],
	["as many tabs, there and back", "\x1b[2147483647I\x1b[2147483647Zx", "x"],
	["repeating a character as often", "\x1b[Hab\x1b[2147483647b", `${`${"b".repeat(40)}\n`.repeat(9)}bb`],
	["going as far", "\x1b[2147483647;2147483647Hx\x1b[2147483647A\x1b[2147483647Dy", `y${"\n".repeat(9)}${" ".repeat(39)}x`],
	["a letter with a hundred thousand accents", `e${"\u0301".repeat(100_000)}x`, `e${"\u0301".repeat(63)}x`],
	["a cell of many that is written over, and combined again", `e${"\u0301".repeat(100)}\rn\u0303x`, "n\u0303x"],
])("%s neither hangs nor throws", async (_name, text, screen) => {
	const made = await emulator(text);
	expect(made.render().screen).toBe(screen);
	await made.write("\x1b[2J\x1b[Hstill here");
	expect(made.render().screen).toBe("still here");
	made.dispose();
});

test("random bytes do no harm", async () => {
	const random = lcg(7);
	for (let round = 0; round < 30; round++) {
		const made = await emulator("");
		await made.write(Uint8Array.from({ length: 5_000 }, () => (random(4) === 0 ? 0x1b : random(256))));
		made.resize(10 + random(100), 1 + random(50));
		await made.write("\x18\x1bc\x1b[?1049lstill here");
		expect(made.render().screen).toContain("still here");
		made.dispose();
	}
});

test.each([
	["colours and text", "a\x1b[31mb\x1b[0mc\r\nd"],
	["wrapped lines", `${"x".repeat(95)}\r\ny`],
	["a line that was wrapped and then erased", `${"x".repeat(60)}\x1b[1;1H\x1b[2K`],
	["more lines than the screen has", Array.from({ length: 30 }, (_, row) => `row ${row}`).join("\r\n")],
	["wide characters", "日本語".repeat(10)],
	["the alternate screen above the normal one", "normal\x1b[?1049h\x1b[5;5Halt\x1b[7m"],
	["a scroll region and origin mode", "top\x1b[3;6r\x1b[?6h\x1b[2;4Hx"],
	["a saved cursor", "abc\x1b7\x1b[5;5Hdef"],
	["modes", "\x1b[?1h\x1b=\x1b[?2004h\x1b[?1003h\x1b[?1006h\x1b[?7l\x1b[4h\x1b[?25ltext"],
	["an empty screen", ""],
])("a frozen terminal goes on as the one it was taken from: %s", async (_name, before) => {
	const original = await emulator(before);
	const state = await original.freeze();
	expect(state).toBeDefined();
	const copy = await emulator(state as string);
	expect(copy.render()).toEqual(original.render());
	for (const piece of ["more", "\r\n\n", "\x1b8saved", "\x1b[1;1Hhome", "\n".repeat(12), "\x1b[?1049l", "after", "\x1b[3A\x1b[Kx"]) {
		await original.write(piece);
		await copy.write(piece);
		expect(copy.render()).toEqual(original.render());
	}
	original.dispose();
	copy.dispose();
});

test.each([
	["in the middle of a sequence", "abc\x1b[3"],
	["in the middle of a title", "abc\x1b]2;tit"],
	["when the next character would wrap", "x".repeat(40)],
	["with line drawing switched on", "\x1b(0abc"],
	["with tab stops of its own", "\x1b[5G\x1bHabc"],
])("what no text can bring back is not frozen: %s", async (_name, before) => {
	const made = await emulator(before);
	expect(await made.freeze()).toBeUndefined();
	made.dispose();
});

test.each([
	["what it is (DA1)", "\x1b[c", "\x1b[?1;2c"],
	["which version (DA2)", "\x1b[>c", "\x1b[>0;276;0c"],
	["whether it is well (DSR 5)", "\x1b[5n", "\x1b[0n"],
	["where the cursor is (DSR 6)", "ab\r\ncd\x1b[6n", "\x1b[2;3R"],
	["a mode (DECRQM)", "\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"],
	["the colour of text (OSC 10)", "\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\"],
	["the background (OSC 11)", "\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"],
	["both at once", "\x1b]10;?;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\"],
	["its size in characters (18t)", "\x1b[18t", "\x1b[8;10;40t"],
	["its size in pixels (14t)", "\x1b[14t", "\x1b[4;160;320t"],
	["the size of a character (16t)", "\x1b[16t", "\x1b[6;16;8t"],
])("asked %s, it answers", async (_name, question, answer) => {
	let said = "";
	const made = await emulator(question, (bytes) => {
		said += bytes;
	});
	expect(said).toBe(answer);
	expect(made.render().screen).not.toMatch(/[[\]?]/); // a question is not shown
	made.dispose();
});

test("emoji are two columns wide, as programs take them to be; flags and text symbols are not", async () => {
	for (const [text, col] of [
		["🚀|", 3],
		["✅|", 3],
		["⭐❌|", 5],
		["日|", 3],
		["→✓|", 3],
		["🇩🇪|", 3],
		["⚠️|", 2],
	] as const) {
		const made = await emulator(text);
		expect([text, made.render()]).toMatchObject([text, { screen: text, cursor: { row: 0, col } }]);
		made.dispose();
	}
});

test("neither a huge terminal nor a huge title takes up the memory", async () => {
	const made = new Emulator({ cols: 10_000, rows: 10_000 });
	expect(made.render()).toMatchObject({ cols: 10_000, rows: 200 });
	made.resize(100, 10_000);
	await made.write(`\x1b]2;${"t".repeat(100_000)}\x07`);
	const { title, ...rest } = made.render();
	expect(rest).toMatchObject({ cols: 100, rows: 10_000 });
	expect(title).toHaveLength(1_000);
	made.dispose();
});

/** Numbers that look random and are the same in every run. */
function lcg(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}
