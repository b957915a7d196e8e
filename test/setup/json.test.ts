import { expect, test } from "vitest";
import { removeJson, setJson } from "../../src/doors/setup/json.js";

const put = (text: string, value: unknown = { command: "x" }) => setJson(text, ["servers", "me"], value);

test.each([
	["an empty text", "", '{\n  "servers": {\n    "me": {\n      "command": "x"\n    }\n  }\n}\n'],
	["an empty object", "{}\n", '{\n  "servers": {\n    "me": {\n      "command": "x"\n    }\n  }\n}\n'],
	["nothing but a comment", "// mine\n", '// mine\n{\n  "servers": {\n    "me": {\n      "command": "x"\n    }\n  }\n}\n'],
	["other settings", '{\n    "a": 1\n}', '{\n    "a": 1,\n    "servers": {\n        "me": {\n            "command": "x"\n        }\n    }\n}'],
	["an empty table", '{\n\t"servers": {}\n}\n', '{\n\t"servers": {\n\t\t"me": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}\n'],
	[
		"a table with a comment",
		'{\n  "servers": {\n    // none yet\n  }\n}\n',
		'{\n  "servers": {\n    // none yet\n    "me": {\n      "command": "x"\n    }\n  }\n}\n',
	],
	[
		"neighbours with comments and no trailing comma",
		'{\n  "servers": {\n    "a": 1 // about a, }\n    /* the end */\n  }\n}\n',
		'{\n  "servers": {\n    "a": 1, // about a, }\n    "me": {\n      "command": "x"\n    }\n    /* the end */\n  }\n}\n',
	],
	[
		"trailing commas",
		'{\r\n  "servers": {\r\n    "a": 1,\r\n  },\r\n}\r\n',
		'{\r\n  "servers": {\r\n    "a": 1,\r\n    "me": {\r\n      "command": "x"\r\n    },\r\n  },\r\n}\r\n',
	],
	["a text of one line", '{"a":1,"servers":{"b":2}}', '{"a":1,"servers":{"b":2, "me": {"command":"x"}}}'],
	[
		"an entry that is there",
		'{\n  "servers": {\n    "me": "old", // mine\n    "b": 2\n  }\n}\n',
		'{\n  "servers": {\n    "me": {\n      "command": "x"\n    }, // mine\n    "b": 2\n  }\n}\n',
	],
])("a property is put into %s, and nothing else changes", (_, before, after) => {
	expect(put(before)).toBe(after);
});

test("a value inside an entry is changed where it is", () => {
	const before = '{\n  "servers": {\n    "me": {\n      "args": ["a"], // why\n      "env": {}\n    }\n  }\n}\n';
	expect(setJson(before, ["servers", "me", "args"], ["b"])).toBe(before.replace('["a"]', '[\n        "b"\n      ]'));
});

test.each([
	["the only one", '{\n  "servers": {\n    "me": {\n      "x": 1\n    }\n  }\n}\n', '{\n  "servers": {}\n}\n'],
	["the last", '{\n  "servers": {\n    "a": 1, // about a\n    "me": {}\n  }\n}\n', '{\n  "servers": {\n    "a": 1 // about a\n  }\n}\n'],
	["the first", '{\n  "servers": {\n    "me": {}, // mine\n    // about a\n    "a": 1\n  }\n}\n', '{\n  "servers": {\n    // about a\n    "a": 1\n  }\n}\n'],
	[
		"the last, with a trailing comma",
		'{\r\n  "servers": {\r\n    "a": 1,\r\n    "me": {},\r\n  }\r\n}\r\n',
		'{\r\n  "servers": {\r\n    "a": 1,\r\n  }\r\n}\r\n',
	],
	["one of many on a line", '{"servers": {"a": 1, "me": {}, "b": 2}}', '{"servers": {"a": 1, "b": 2}}'],
	["the last on a line", '{"servers": {"a": 1, "me": {}}}', '{"servers": {"a": 1}}'],
	["one that is not there", '{"servers": {"a": 1}}', '{"servers": {"a": 1}}'],
])("a property is taken out: %s", (_, before, after) => {
	expect(removeJson(before, ["servers", "me"])).toBe(after);
});
