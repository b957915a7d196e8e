import { expect, test } from "vitest";
import { removeToml, setToml } from "../../src/doors/setup/toml.js";

const TABLE = '[servers.me]\ncommand = "x"\nargs = ["a", "b \\"c\\""]\n';
const put = (text: string) => setToml(text, ["servers", "me"], { command: "x", args: ["a", 'b "c"'] });

test.each([
	["an empty text", "", TABLE],
	["other tables", "[a]\nb = 1\n", `[a]\nb = 1\n\n${TABLE}`],
	["a text without a last newline", "a = 1", `a = 1\n\n${TABLE}`],
	["lines that end in CRLF", "a = 1\r\n", `a = 1\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}`],
	["a text with an old table", '[servers.me]\nurl = "u"\n\n[servers.me.env]\nA = "b"\n\n# about b\n[b]\n', `# about b\n[b]\n\n${TABLE}`],
])("a table is put into %s", (_, before, after) => {
	expect(put(before)).toBe(after);
});

test("a table is taken out with its sub-tables; comments above the next table stay, and texts that look like tables", () => {
	const before = ["[a]", 'text = """', "[servers.me]", 'command = "in a text"', '"""', ""];
	const ours = ['[servers."me"] # mine', "args = [", '  "a", # one', "  [", "  ],", "]", "# why", 'command = "x"', "", "[servers.me.env]", 'A = "b"'];
	const after = ["", "# about b", "[b]", "c = 1", ""];
	expect(removeToml([...before, ...ours, ...after].join("\n"), ["servers", "me"])).toBe([...before.slice(0, -1), ...after].join("\n"));
});

test("a key is changed where it is, whatever it spans, and keeps the comment behind it; a missing one comes first", () => {
	const before = '[servers.me]\n# why\nargs = [\n  "old", # no\n  "#",\n] # yes\n  timeout = 5\n\n[b]\n';
	expect(setToml(before, ["servers", "me", "args"], ["new"])).toBe('[servers.me]\n# why\nargs = ["new"] # yes\n  timeout = 5\n\n[b]\n');
	expect(setToml(before, ["servers", "me", "command"], "x")).toBe(before.replace("[servers.me]\n", '[servers.me]\ncommand = "x"\n'));
	expect(setToml("[servers.me]", ["servers", "me", "command"], "x")).toBe('[servers.me]\ncommand = "x"\n');
});

test("what is written in another form is left as it is", () => {
	for (const text of ['[servers]\nme = { command = "y" }\n', 'servers.me.command = "y"\n', '[[servers.me]]\ncommand = "y"\n'])
		expect([removeToml(text, ["servers", "me"]), setToml(text, ["servers", "me", "command"], "x")]).toEqual([text, text]);
});
