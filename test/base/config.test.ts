/** What is wrong with config.json is said in words that a person can act on: which key, what is there, what belongs there. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/base/config.js";
import { placeFrom } from "../../src/places/address.js";
import { readRules } from "../../src/policy/file.js";
import { loadParser } from "../../src/policy/tree.js";
import { tempDir } from "../support/home.js";

/** What there is to say of such a file, without its name. */
function problems(content: unknown, { name = "config.json", load = loadConfig as (env: NodeJS.ProcessEnv) => unknown } = {}): string {
	const dir = tempDir("config");
	const file = path.join(dir, "holdfast", name);
	fs.mkdirSync(path.dirname(file));
	fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
	try {
		load({ XDG_CONFIG_HOME: dir });
	} catch (error) {
		expect(error).toMatchObject({ code: "CONFIG" });
		return (error as Error).message.replace(`${file} cannot be used: `, "").replace(file, "FILE");
	}
	return "";
}

const inPlace = (entry: object): string =>
	problems({ places: { box: entry } }, { load: (env) => placeFrom("box", () => loadConfig(env)) }).replace("places.box in config.json cannot be used: ", "");

test("no file is the same as an empty one", () => {
	const [none, empty] = [tempDir("config"), tempDir("config")];
	fs.mkdirSync(path.join(empty, "holdfast"));
	fs.writeFileSync(path.join(empty, "holdfast/config.json"), "{}");
	expect(loadConfig({ XDG_CONFIG_HOME: none })).toEqual(loadConfig({ XDG_CONFIG_HOME: empty }));
});

test.each([
	[{ limits: { process: { pids: "many" } } }, 'limits.process.pids is "many", but takes for example 100, or null for none'],
	[{ limits: { process: { pids: 1.5 } } }, "limits.process.pids is 1.5, but must be a whole number"],
	[{ limits: { process: { memory: "1K" } } }, 'limits.process.memory is "1K", but must be at least 1 MiB, or null for none'],
	[
		{ limits: { task: { memory: true } } },
		'limits.task.memory is true, but takes for example "512M", "50%" (of what the machine has) or 536870912, or null for none',
	],
	[{ limits: { task: { processes: 0 } } }, "limits.task.processes is 0, but must be at least 1"],
	[{ limits: { task: { processes: "64" } } }, 'limits.task.processes is "64", but must be a number'],
	[{ limits: { task: { time: "1h" } } }, 'limits.task has no key "time"; there are memory, cpu, pids, processes'],
	[{ limits: { memory: "1G", pids: 3 } }, 'limits has no key "memory", "pids"; there are process, task'],
	[{ limits: [] }, "limits is [], but must be an object"],
	[{ limit: {} }, 'there is no key "limit"; there are approvals, sudo, environment, limits, sandbox, mask, notify, places'],
	[{ notify: [{ kind: "mail", name: "me" }] }, 'notify[0].kind is "mail", but must be one of "webhook", "ntfy", "command"'],
	[
		{ notify: [{ kind: "ntfy", name: "a b", url: "https://me:secret@ntfy.sh/t", on: ["all"] }] },
		'notify[0].name is "a b", but the name of a target is up to 40 letters, digits, dashes and underscores; notify[0].on[0] is "all", but must be one of "question", "waiting", "end"; notify[0].url is a string, but must be an http or https address without a user name, a password or a fragment',
	],
	[{ notify: [{ kind: "command", name: "a", command: "notify-send x" }] }, 'notify[0].command is "notify-send x", but must be a list'],
	[
		{ notify: ["a", "a"].map((name) => ({ kind: "command", name, command: ["x"] })) },
		'notify is [{"kind":"command","name":"a","command":["x"]},{"kind":"comm…, but two targets have the same name',
	],
	[
		{ approvals: { unattended: "yes", expires: 0.5 } },
		'approvals.expires is 0.5, but must be a whole number; approvals.unattended is "yes", but must be one of "deny", "allow-listed", "pending"',
	],
	[{ approvals: { expires: 1e9 } }, "approvals.expires is 1000000000, but must be at most 86400"],
	[{ sudo: { passwordFile: "" } }, 'sudo.passwordFile is "", but must not be empty'],
	[{ environment: { pass: "NPM_TOKEN" } }, "environment.pass is a string, but must be a list"],
	[{ sandbox: { write: ["/srv", "src"] } }, 'sandbox.write[1] is "src", but a path is absolute, or begins with ~/'],
	[{ sandbox: { network: "no" } }, 'sandbox.network is "no", but must be true or false'],
	[
		{ places: { "a/b": { type: "ssh" } } },
		'places has the name "a/b", but the name of a place is letters, digits, dots, dashes and underscores, and not `local`',
	],
	[{ places: { box: { host: "h" } } }, 'places.box.kind is missing; it says what kind of place it is, such as "ssh"'],
	[{ places: { box: { kind: "ssh", type: "ssh" } } }, 'places.box.type is "ssh", but it is the older word for `kind`, which is there too; leave it out'],
	[[], "it is [], but must be an object"],
	[null, "it is null, but must be an object"],
])("%j", (content, words) => {
	expect(problems(content)).toBe(words);
});

test.each([
	[{ kind: "vm" }, /^there is no kind of place "vm"; there are local, sandbox, ssh, docker, /],
	[{ kind: "docker", port: 22, image: "x" }, /^there is no key "port", which is a key of ssh; there are image, container, pull, /],
	[{ type: "docker", pids: 3 }, "pids is 3, but must be at least 32"],
	[{ type: "docker", memory: "lots" }, 'memory is "lots", but takes for example "512M" or 536870912'],
	[{ type: "docker", memory: ["1G"] }, 'memory is ["1G"], but takes for example "512M" or 536870912'],
	[{ type: "docker", volumes: ["relative:/mnt"] }, /^volumes\[0\] is "relative:\/mnt", but .*the path here must be absolute/],
	[{ type: "docker", environment: { TOKEN: 12345 } }, "environment.TOKEN is a number, but must be a string"],
	[{ type: "docker", pull: "always" }, 'pull is "always", but must be one of "never", "missing"'],
	[{ type: "docker", cpu: 1 }, /^there is no key "cpu"; there are image, container, pull, cpus, memory/],
	[{ type: "ssh" }, "host is missing; it must be a string"],
	[{ type: "ssh", host: "box", port: "22" }, 'port is "22", but must be a number'],
	[{ type: "ssh", host: "box", port: 70000 }, "port is 70000, but must be at most 65535"],
	[{ type: "ssh", host: "-x", user: "" }, /^host is "-x", but a host cannot begin with a dash; user is "", but the user is empty$/],
	[{ type: "ssh", host: "box", options: { BatchMode: "no" } }, 'options.BatchMode is "no", but BatchMode cannot be changed: Holdfast needs its own value'],
])("a place: %j", (entry, words) => {
	if (typeof words === "string") expect(inPlace(entry)).toBe(words);
	else expect(inPlace(entry)).toMatch(words);
});

test("many problems are cut, and long values", () => {
	expect(problems({ sandbox: { write: ["a", "b", "c", "d", "e", "f", "g"] } })).toMatch(/write\[4\] is "e", [^;]*; and 2 more$/);
	expect(problems({ sandbox: { network: "x".repeat(1_000) } })).toBe(`sandbox.network is "${"x".repeat(59)}…, but must be true or false`);
});

test("policy.json, in the same words", async () => {
	await loadParser();
	const rules = (content: unknown) => problems(content, { name: "policy.json", load: (env) => readRules(undefined, env) });
	expect(rules({ rules: [{ id: "X", decision: "maybe", reason: "", match: {}, examples: { match: ["a"], not: ["b"] } }] })).toBe(
		'rules[0].id is "X", but an id is small letters, digits and dashes; rules[0].decision is "maybe", but must be one of "allow", "ask", "deny"; rules[0].reason is "", but must not be empty; rules[0].match is {}, but a rule has to match on something',
	);
	expect(rules({ rule: [] })).toBe('there is no key "rule"; there are rules, defaults, trust');
});

test.each([
	["", "FILE is not JSON: it is empty, and must have at least {}; correct it, or move it away"],
	['{\n\t"limits": {},\n}', "FILE is not JSON: line 3, column 1: remove the trailing comma; correct it, or move it away"],
	['{\n  // mine\n  "limits": {}\n}', "FILE is not JSON: line 2, column 3: there are no comments in JSON; correct it, or move it away"],
	['{ "limits": {} ', /^FILE is not JSON: .*; correct it, or move it away$/],
	["{ limits: {} }", 'FILE is not JSON: line 1, column 3: "limits: {}" is not expected there; correct it, or move it away'],
])("what is no JSON: %j", (text, words) => {
	if (typeof words === "string") expect(problems(text)).toBe(words);
	else expect(problems(text)).toMatch(words);
});

test("one that begins with a mark of its encoding is read; a directory is not", () => {
	expect(problems('\uFEFF{"limits":{}}')).toBe("");
	const dir = tempDir("config");
	fs.mkdirSync(path.join(dir, "holdfast", "config.json"), { recursive: true });
	expect(() => loadConfig({ XDG_CONFIG_HOME: dir })).toThrow(/config\.json cannot be read: it is a directory; correct that, or move it away$/);
});
