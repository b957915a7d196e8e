/** `holdfast setup` on the configurations of a person who has nothing but what a test writes. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { CLI, cli, hasTmux, Terminal } from "../support/cli.js";
import { tempDir } from "../support/home.js";

const NODE = process.execPath;
const JSON_SERVER = { command: NODE, args: [CLI, "mcp"] };
const TOML_SERVER = `[mcp_servers.holdfast]\ncommand = "${NODE}"\nargs = ["${CLI}", "mcp"]\ntool_timeout_sec = 660\n`;

/** Variables by which clients are sent elsewhere; the test runner's own must not count. An empty one counts as none. */
const VARIABLES = {
	...{ HOLDFAST_HOME: "", XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "", CLAUDE_USER_DATA_DIR: "", VSCODE_PORTABLE: "", VSCODE_APPDATA: "" },
	...{ CODEX_HOME: "", GEMINI_CLI_HOME: "", OPENCODE_CONFIG: "", OPENCODE_CONFIG_DIR: "" },
};

class Person {
	readonly home = tempDir("person");
	readonly env: Record<string, string> = { ...VARIABLES, HOME: this.home, PATH: path.join(this.home, "bin") };

	path = (name: string): string => path.join(this.home, name);
	read = (name: string): string => fs.readFileSync(this.path(name), "utf8");

	write(name: string, text: string | Uint8Array, mode = 0o644): void {
		fs.mkdirSync(path.dirname(this.path(name)), { recursive: true });
		fs.writeFileSync(this.path(name), text, { mode });
		fs.chmodSync(this.path(name), mode);
	}

	/** All files, with what is in them. */
	files(): Record<string, string> {
		const names = (fs.readdirSync(this.home, { recursive: true }) as string[]).filter((name) => fs.statSync(this.path(name)).isFile());
		return Object.fromEntries(names.map((name) => [name, this.read(name)]));
	}

	setup = (...args: string[]) => cli(this.path("state"), ["setup", ...args], { env: this.env });
	setupJson = async (...args: string[]) => JSON.parse((await this.setup("--json", ...args)).stdout);
}

const CASES = [
	{ id: "claude-code", file: ".claude.json", before: '{\n  "numStartups": 3\n}\n', key: "mcpServers", entry: JSON_SERVER },
	{ id: "claude-desktop", file: ".config/Claude/claude_desktop_config.json", before: "{}", key: "mcpServers", entry: JSON_SERVER },
	{ id: "cursor", file: ".cursor/mcp.json", before: "", key: "mcpServers", entry: JSON_SERVER },
	{ id: "vscode", file: ".config/Code/User/mcp.json", before: '{ "inputs": [] }\n', key: "servers", entry: { type: "stdio", ...JSON_SERVER } },
	{ id: "gemini", file: ".gemini/settings.json", before: '{\n\t"theme": "x"\n}\n', key: "mcpServers", entry: { ...JSON_SERVER, timeout: 660_000 } },
	{ id: "opencode", file: ".config/opencode/opencode.json", before: '{"a": 1}', key: "mcp", entry: { type: "local", command: [NODE, CLI, "mcp"] } },
];

test.each(CASES)("$id gets its entry, keeps its settings and a backup, and is left alone the next time", async ({ id, file, before, key, entry }) => {
	const person = new Person();
	person.write(file, before, 0o640);
	const result = await person.setupJson("--yes");
	const [client, ...more] = result.clients.filter(({ found }: { found: boolean }) => found);
	expect(more).toEqual([]);
	expect(client).toMatchObject({ client: id, file: person.path(file), status: "written", change: "add", error: null });
	expect(JSON.parse(person.read(file))).toEqual({ ...JSON.parse(before || "{}"), [key]: { holdfast: entry } });
	expect(client.backup).toMatch(new RegExp(`^${person.path(file)}\\.holdfast-backup-\\d{8}T\\d{6}Z$`));
	expect(fs.readFileSync(client.backup, "utf8")).toBe(before);
	for (const name of [person.path(file), client.backup]) expect(fs.statSync(name).mode & 0o777).toBe(0o640);
	const after = person.files();
	expect(Object.keys(after)).toHaveLength(2);
	expect(await person.setup("--yes")).toMatchObject({ code: 0, stdout: expect.stringContaining(`~/${file}: already set up`), stderr: "" });
	expect(person.files()).toEqual(after);
});

test("Codex gets its table at the end, in TOML; the whole result with --json", async () => {
	const person = new Person();
	const before = '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x"\n';
	person.write(".codex/config.toml", before);
	expect(await person.setupJson("--yes", "codex")).toEqual({
		server: JSON_SERVER,
		dry_run: false,
		clients: [
			{
				client: "codex",
				name: "Codex",
				file: person.path(".codex/config.toml"),
				found: true,
				status: "written",
				change: "add",
				diff: [
					"@@ -3,3 +3,8 @@",
					" ",
					" [mcp_servers.other]",
					' command = "…"',
					"+",
					...TOML_SERVER.trim()
						.split("\n")
						.map((line) => `+${line}`),
				],
				backup: expect.stringContaining("config.toml.holdfast-backup-"),
				note: null,
				error: null,
			},
		],
	});
	expect(person.read(".codex/config.toml")).toBe(`${before}\n${TOML_SERVER}`);
	expect((await person.setup("--yes", "--remove")).code).toBe(0);
	expect(person.read(".codex/config.toml")).toBe(before);
});

test("without a terminal and without --yes everything is shown and nothing is written", async () => {
	const person = new Person();
	person.write(".claude.json", '{\n  "a": 1\n}\n');
	const before = person.files();
	const shown = await person.setup();
	expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was written, because there is no terminal to ask at; --yes") });
	expect(shown.stdout).toContain('  -  "a": 1\n  +  "a": 1,\n  +  "mcpServers": {\n  +    "holdfast": {\n');
	expect(shown.stdout).toContain("not found: claude-desktop, cursor, vscode, codex, gemini, opencode");
	expect(shown.stdout).not.toContain("\u001b");
	expect((await person.setupJson()).clients[0]).toMatchObject({ status: "not_asked", change: "add", backup: null });
	expect(await person.setup("--dry-run", "--yes")).toMatchObject({ code: 0, stderr: "" });
	expect(person.files()).toEqual(before);
});

test("clients that are not there get nothing, unless they are named", async () => {
	const person = new Person();
	expect(await person.setup("--yes")).toMatchObject({ code: 1, stderr: expect.stringContaining("no client was found") });
	expect(person.files()).toEqual({});
	const named = await person.setup("--yes", "vscode", "codex", "codex");
	expect(named).toMatchObject({
		code: 0,
		stdout: expect.stringMatching(/~\/\.config\/Code\/User\/mcp\.json \(new\)[\s\S]*written\n[\s\S]*config\.toml \(new\)/),
	});
	expect(person.files()).toEqual({
		".config/Code/User/mcp.json": `${JSON.stringify({ servers: { holdfast: { type: "stdio", ...JSON_SERVER } } }, null, 2)}\n`,
		".codex/config.toml": TOML_SERVER,
	});
	expect(fs.statSync(person.path(".codex/config.toml")).mode & 0o777).toBe(0o600);
	expect((await person.setupJson("--yes", "--remove", "gemini")).clients).toMatchObject([
		{ client: "gemini", found: false, status: "unchanged", change: null },
	]);
});

test.each([
	["claude-code", { CLAUDE_CONFIG_DIR: "x" }, "x/.claude.json"],
	["claude-desktop", { XDG_CONFIG_HOME: "x" }, "x/Claude/claude_desktop_config.json"],
	["claude-desktop", { CLAUDE_USER_DATA_DIR: "x" }, "x/claude_desktop_config.json"],
	["vscode", { XDG_CONFIG_HOME: "x" }, "x/Code/User/mcp.json"],
	["vscode", { VSCODE_APPDATA: "x" }, "x/Code/User/mcp.json"],
	["vscode", { VSCODE_PORTABLE: "x" }, "x/user-data/User/mcp.json"],
	["codex", { CODEX_HOME: "x" }, "x/config.toml"],
	["gemini", { GEMINI_CLI_HOME: "x" }, "x/.gemini/settings.json"],
	["opencode", { XDG_CONFIG_HOME: "x" }, "x/opencode/opencode.json"],
	["opencode", { OPENCODE_CONFIG_DIR: "x" }, "x/opencode.json"],
	["opencode", { OPENCODE_CONFIG: "x/my.json" }, "x/my.json"],
])("%s is looked for where %j says", async (id, variables, file) => {
	const person = new Person();
	for (const [name, value] of Object.entries(variables)) person.env[name] = person.path(value);
	const { clients } = await person.setupJson("--dry-run", id);
	expect(clients).toMatchObject([{ file: person.path(file), found: false, status: "dry_run" }]);
});

test("a directory or a program of a client is a sign of it; of two files the one that counts is taken", async () => {
	const person = new Person();
	person.write("bin/gemini", "", 0o755);
	person.write("bin/codex", "", 0o644); // not a program
	person.write(".claude/.config.json", "{}");
	person.write(".config/opencode/opencode.json", "{}");
	person.write(".config/opencode/opencode.jsonc", "{}");
	fs.mkdirSync(person.path(".cursor"));
	const { clients } = await person.setupJson();
	const found = clients.filter((client: { found: boolean }) => client.found).map(({ file }: { file: string }) => path.relative(person.home, file));
	expect(found).toEqual([".claude/.config.json", ".cursor/mcp.json", ".gemini/settings.json", ".config/opencode/opencode.jsonc"]);
});

test("the entry names holdfast where that means this installation, and carries --task, --home and --place", async () => {
	const person = new Person();
	fs.mkdirSync(person.path("bin"));
	fs.symlinkSync(CLI, person.path("bin/holdfast"));
	const wanted = { command: "holdfast", args: ["mcp", "--home", person.path("h"), "--task", "a/b c", "--place", "local+sandbox"] };
	const { server } = await person.setupJson("--yes", "codex", "--task", "a/b c", "--home", person.path("h"), "--place", "local+sandbox");
	expect(server).toEqual(wanted);
	expect(person.read(".codex/config.toml")).toContain(`args = ${JSON.stringify(wanted.args).replaceAll(",", ", ")}\n`);
	expect(await person.setup("--yes", "codex", "--place", "moon")).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no place "moon"') });
	person.write("other/holdfast", "#!/bin/sh\n", 0o755);
	person.env.PATH = `${person.path("other")}:${person.path("bin")}`; // another one comes first
	expect((await person.setupJson()).server).toEqual(JSON_SERVER);
	fs.mkdirSync(person.path("node_modules/.bin"), { recursive: true });
	fs.symlinkSync(CLI, person.path("node_modules/.bin/holdfast"));
	person.env.PATH = person.path("node_modules/.bin"); // as npx does it, for its own program alone
	expect((await person.setupJson()).server).toEqual(JSON_SERVER);
});

test("clients of the desktop get paths, which they have no PATH for, and HOLDFAST_HOME goes into every entry", async () => {
	const person = new Person();
	fs.mkdirSync(person.path("bin"));
	fs.symlinkSync(CLI, person.path("bin/holdfast"));
	person.env.HOLDFAST_HOME = person.path("of-mine");
	const args = ["mcp", "--home", person.path("of-mine")];
	await person.setupJson("--yes", "cursor", "claude-desktop", "claude-code");
	expect(JSON.parse(person.read(".claude.json")).mcpServers.holdfast).toEqual({ command: "holdfast", args });
	for (const file of [".cursor/mcp.json", ".config/Claude/claude_desktop_config.json"])
		expect(JSON.parse(person.read(file)).mcpServers.holdfast).toEqual({ command: NODE, args: [CLI, ...args] });
});

test("a time limit that a person has set stays", async () => {
	const person = new Person();
	person.write(".codex/config.toml", '[mcp_servers.holdfast]\ncommand = "old"\ntool_timeout_sec = 30\n');
	await person.setupJson("--yes", "codex");
	expect(person.read(".codex/config.toml")).toContain("tool_timeout_sec = 30\n");
	expect(person.read(".codex/config.toml")).not.toContain("660");
});

test("an entry of our name is brought up to date: what a person added to it stays, one that is no program is replaced", async () => {
	const person = new Person();
	const json = (entry: object) => JSON.stringify({ mcpServers: { holdfast: entry, z: 1 } }, null, 2);
	person.write(".cursor/mcp.json", json({ command: "old", env: { A: "secret" }, args: ["mcp"] }));
	person.write(".gemini/settings.json", json({ httpUrl: "http://x", headers: { A: "secret" } }));
	person.write(
		".codex/config.toml",
		'[mcp_servers.holdfast]\ncommand = "old" # why\nargs = ["mcp"]\nenabled = false\n\n[mcp_servers.holdfast.env]\nA = "secret"\n',
	);
	const result = await person.setup("--yes");
	expect(result.code).toBe(0);
	expect(result.stdout).toContain('  -      "command": "old",\n  +      "command": ');
	expect(result.stdout).not.toContain("secret");
	expect(result.stderr).toContain("Codex: the entry is switched off there");
	expect(JSON.parse(person.read(".cursor/mcp.json"))).toEqual({ mcpServers: { holdfast: { ...JSON_SERVER, env: { A: "secret" } }, z: 1 } });
	expect(JSON.parse(person.read(".gemini/settings.json"))).toEqual({ mcpServers: { holdfast: { ...JSON_SERVER, timeout: 660_000 }, z: 1 } });
	expect(person.read(".codex/config.toml")).toBe(
		`[mcp_servers.holdfast]\ntool_timeout_sec = 660\ncommand = "${NODE}" # why\nargs = ["${CLI}", "mcp"]\nenabled = false\n\n[mcp_servers.holdfast.env]\nA = "secret"\n`,
	);
});

test("comments, order, indentation and a byte order mark stay; an earlier backup is never written over", async () => {
	const person = new Person();
	const before = '\ufeff{\r\n\t// mine\r\n\t"servers": {\r\n\t\t"b": {}, // first\r\n\t\t"a": {}, // last\r\n\t},\r\n\t"inputs": [1,2]\r\n}';
	person.write(".config/Code/User/mcp.json", before);
	const entry = JSON.stringify({ type: "stdio", ...JSON_SERVER }, null, "\t").replaceAll("\n", "\r\n\t\t");
	for (const _ of [1, 2, 3]) {
		expect((await person.setup("--yes")).code).toBe(0);
		expect(person.read(".config/Code/User/mcp.json")).toBe(before.replace("// last", `// last\r\n\t\t"holdfast": ${entry},`));
		expect((await person.setup("--yes", "--remove")).code).toBe(0);
		expect(person.read(".config/Code/User/mcp.json")).toBe(before);
	}
	expect(Object.keys(person.files())).toHaveLength(1 + 6);
});

test.each([
	["broken JSON", "cursor", ".cursor/mcp.json", '{\n  "a": 1\n  "b": 2\n}', "cannot be read as JSON with comments (line 3: comma expected)"],
	["comments where the client takes none", "claude-code", ".claude.json", "{\n  // x\n}", "cannot be read as JSON (line 2: invalid comment token)"],
	["a trailing comma", "gemini", ".gemini/settings.json", '{\n  "a": 1, // x\n}', "line 3: there is a comma before the }, which this client refuses"],
	["a trailing comma in a list", "gemini", ".gemini/settings.json", '{"a": [1,]}', "line 1: there is a comma before the ], which this client refuses"],
	["a list", "gemini", ".gemini/settings.json", "[]", "holds something else than settings"],
	["servers that are none", "gemini", ".gemini/settings.json", '{"mcpServers": null}', '"mcpServers" in '],
	["an entry twice", "cursor", ".cursor/mcp.json", '{"mcpServers": {"holdfast": 1, "holdfast": 2}}', "cannot change without touching other settings"],
	["bytes that are no text", "cursor", ".cursor/mcp.json", Buffer.from([0x7b, 0xff, 0x7d]), "is not UTF-8 text"],
	["broken TOML", "codex", ".codex/config.toml", 'a = 1\nb = "secret', "cannot be read as TOML (line 2: "],
	[
		"a table in another form",
		"codex",
		".codex/config.toml",
		'mcp_servers = { a = { command = "x" } }\n',
		'by hand: put in "holdfast" below "mcp_servers": {"command":',
	],
])("%s: that client is left alone and says why, the others go on", async (_, id, file, before, message) => {
	const person = new Person();
	person.write(file, before);
	const original = fs.readFileSync(person.path(file));
	const result = await person.setup("--yes", id, "claude-desktop");
	expect(result.code).toBe(1);
	expect(result.stderr).toContain(message);
	expect(result.stderr).not.toContain("secret");
	expect(fs.readFileSync(person.path(file))).toEqual(original);
	expect(Object.keys(person.files()).sort()).toEqual([file, ".config/Claude/claude_desktop_config.json"].sort());
	const again = (await person.setupJson("--yes", id)).clients[0];
	expect(again).toMatchObject({ status: "error", change: null, diff: [], error: { code: "CONFIG", message: expect.stringContaining(message) } });
});

test("a symbolic link stays one: its target is changed, and has the backup beside it", async () => {
	const person = new Person();
	person.write("dotfiles/gemini.json", "{}\n", 0o600);
	fs.mkdirSync(person.path(".gemini"));
	fs.symlinkSync("../dotfiles/gemini.json", person.path(".gemini/settings.json"));
	const [client] = (await person.setupJson("--yes", "gemini")).clients;
	expect(path.dirname(client.backup)).toBe(person.path("dotfiles"));
	expect(fs.readlinkSync(person.path(".gemini/settings.json"))).toBe("../dotfiles/gemini.json");
	expect(JSON.parse(person.read("dotfiles/gemini.json"))).toEqual({ mcpServers: { holdfast: { ...JSON_SERVER, timeout: 660_000 } } });
	fs.rmSync(person.path("dotfiles/gemini.json"));
	expect(await person.setup("--yes", "gemini")).toMatchObject({ code: 1, stderr: expect.stringContaining("is a symbolic link to nothing") });
});

test.each([
	["a directory where the file should be", { CODEX_HOME: "." }, "is not a file"],
	["a file where the directory should be", { CODEX_HOME: "config.toml/file" }, "cannot read"],
	["a directory nobody can write to", { CODEX_HOME: "/sys" }, "not allowed (E"],
])("%s is said in words", async (_, { CODEX_HOME }, message) => {
	const person = new Person();
	person.write("config.toml/file", "");
	person.env.CODEX_HOME = path.resolve(person.home, CODEX_HOME);
	expect(await person.setup("--yes", "codex")).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});

test.each([
	[["emacs"], {}, 2, 'there is no client "emacs"; there are: claude-code, '],
	[["--task", ""], {}, 2, "--task takes a name"],
	[["--home="], {}, 2, "--home takes a directory"],
	[["codex"], { HOME: "" }, 1, "the home directory is not known"],
	[["codex"], { HOME: "here" }, 1, 'HOME is "here"'],
])("%j with %j fails with %i and one helpful line", async (args, env, code, message) => {
	const person = new Person();
	Object.assign(person.env, env);
	const result = await person.setup("--yes", ...args);
	expect(result).toMatchObject({ code, stdout: "" });
	expect(result.stderr.trim().split("\n")).toEqual([expect.stringContaining(message)]);
	expect(person.files()).toEqual({});
});

test.each([
	["writeFileSync:before", "old"],
	["writeFileSync:after", "old"],
	["fsyncSync:after", "old"],
	["linkSync:before", "old"],
	["linkSync:after", "old"],
	["renameSync:before", "old"],
	["renameSync:after", "new"],
])("killed at %s, the file is the whole %s one, the old one is not lost, and the next setup goes through", async (at, expected) => {
	const person = new Person();
	const before = '{\n  "a": 1\n}\n';
	person.write(".claude.json", before);
	person.env.NODE_OPTIONS = `--require ${path.resolve("test/fixtures/kill-at.cjs")}`;
	person.env.KILL_AT = at;
	expect((await person.setup("--yes")).code).toBe(null);
	const isNew = (text: string) => JSON.parse(text).mcpServers?.holdfast !== undefined;
	expect(isNew(person.read(".claude.json")) ? "new" : "old").toBe(expected);
	expect(Object.values(person.files())).toContain(before);
	person.env.NODE_OPTIONS = "";
	expect((await person.setup("--yes")).code).toBe(0);
	expect(isNew(person.read(".claude.json"))).toBe(true);
});

describe.skipIf(!hasTmux)("at a person's terminal (needs tmux)", () => {
	// tmux takes the PATH of this program, which after `npm link` has a holdfast
	const holdfast = (...args: string[]): string => `PATH=/nowhere ${[NODE, CLI, "setup", ...args].join(" ")}; echo "code $?"`;

	test("each change is shown and asked for: yes writes it, anything else does not", async () => {
		const person = new Person();
		for (const file of [".cursor/mcp.json", ".gemini/settings.json", ".codex/config.toml"]) person.write(file, "");
		const terminal = new Terminal(holdfast(), person.env);
		await terminal.shows(/Cursor {2}~\/\.cursor\/mcp\.json\n[\s\S]*"holdfast"[\s\S]*Write this\? \[y\/N\]/);
		expect(person.read(".cursor/mcp.json")).toBe("");
		await terminal.type("y", "Enter");
		await terminal.shows(/written; as it was: ~\/\.cursor\/mcp\.json\.holdfast-backup[\s\S]*Codex {2}[\s\S]*Write this/);
		await terminal.type("Enter");
		await terminal.shows(/Gemini CLI {2}[\s\S]*Write this/);
		await terminal.type("C-d");
		await terminal.shows(/not written: Codex, Gemini CLI\n[\s\S]*restart these if they are running: Cursor\n[\s\S]*code 1/);
		expect(JSON.parse(person.read(".cursor/mcp.json"))).toEqual({ mcpServers: { holdfast: JSON_SERVER } });
		expect([person.read(".codex/config.toml"), person.read(".gemini/settings.json")]).toEqual(["", ""]);
	});

	test("a file that changes between the question and the answer is left alone; Ctrl-C ends it", async () => {
		const person = new Person();
		person.write(".codex/config.toml", "a = 1\n");
		const terminal = new Terminal(holdfast(), person.env);
		await terminal.shows("Write this?");
		await terminal.resize(250, 30); // the sentence has a path in it, and should be on one line
		person.write(".codex/config.toml", "a = 2\n");
		await terminal.type("y", "Enter");
		await terminal.shows(/has changed since it was shown[\s\S]*run setup again[\s\S]*code 1/);
		const stopped = new Terminal(holdfast(), person.env);
		await stopped.shows("Write this?");
		await stopped.type("C-c");
		await stopped.shows("code 130");
		expect(person.files()).toEqual({ ".codex/config.toml": "a = 2\n" });
	});
});
