import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type AgentHome, changeAgentConfig, loadAgentConfig, openAgentHome } from "../../src/base/index.js";
import { tempDir, tempHome } from "../support/dirs.js";
import { startProgram } from "../support/program.js";
import { smallDisk } from "../support/small-disk.js";

function homeWith(text: string): AgentHome {
	const home = tempHome();
	fs.writeFileSync(home.config, text);
	return home;
}

/** The message of the error that these settings lead to. */
function refused(text: string, flags: Parameters<typeof loadAgentConfig>[1] = []): string {
	const home = homeWith(text);
	try {
		loadAgentConfig(home, flags);
	} catch (error) {
		expect(error).toMatchObject({ name: "AgentError", code: "CONFIG" });
		return (error as Error).message.replaceAll(home.config, "FILE");
	}
	throw new Error("it was taken");
}

it("without a file every value is its default, and says so", () => {
	const { config, values } = loadAgentConfig(tempHome());
	expect(config.limits).toEqual({ steps: 90, parallel: 4, sameCallNote: 5, sameCallStop: 8, badCalls: 3, resultChars: 50_000 });
	expect(config).toMatchObject({ place: "local", busy: "steer", keepDays: null, endpoints: {}, compact: { keepResults: 40_000, seconds: 120 } });
	expect(values.every(({ from }) => from === "default")).toBe(true);
	expect(values).toContainEqual({ key: "model", value: undefined, from: "default", where: "" });
	expect(values).toContainEqual({ key: "compact.model", value: undefined, from: "default", where: "" });
});

it("a flag counts before the file, the file before the default, and each value says where it comes from", () => {
	const home = homeWith('{\n\t"limits": {\n\t\t"steps": 10,\n\t\t"parallel": 2\n\t},\n\t"toolsets": ["terminal", "file"]\n}\n');
	const { config, values } = loadAgentConfig(home, [{ flag: "--steps", key: ["limits", "steps"], value: 3 }]);
	expect(config.limits).toMatchObject({ steps: 3, parallel: 2, badCalls: 3 });
	const source = (key: string) => values.find((value) => value.key === key);
	expect(source("limits.steps")).toEqual({ key: "limits.steps", value: 3, from: "flag", where: "--steps" });
	expect(source("limits.parallel")).toEqual({ key: "limits.parallel", value: 2, from: "file", where: `${home.config} line 4` });
	expect(source("limits.badCalls")).toMatchObject({ value: 3, from: "default" });
	expect(source("toolsets")).toEqual({ key: "toolsets", value: ["terminal", "file"], from: "file", where: `${home.config} line 6` });
});

it("an unknown key is an error that names the line and what may have been meant", () => {
	expect(refused('{\n"limits": { "stepz": 10 }\n}')).toBe("FILE line 2: limits.stepz is no setting; did you mean limits.steps?");
	expect(refused('{"modle": "x"}')).toBe("FILE line 1: modle is no setting; did you mean model?");
	expect(refused('{"xyz": 1}')).toMatch(/^FILE line 1: xyz is no setting; there are endpoints, endpoint, model, reasoning, place, /);
	expect(refused('{"__proto__": {"a": 1}}')).toMatch(/__proto__ is no setting/);
});

it("a wrong value says what is there and what belongs there", () => {
	expect(refused('{\n"limits": {\n"steps": "many"}}')).toBe('FILE line 3: limits.steps is "many", but must be a number');
	expect(refused('{"limits": {"steps": 0}}')).toBe("FILE line 1: limits.steps is 0, but must be at least 1");
	expect(refused('{"limits": {"steps": 1.5}}')).toContain("must be a whole number");
	expect(refused('{"reasoning": "hard"}')).toBe('FILE line 1: reasoning is "hard", but must be one of "low", "medium", "high"');
	expect(refused('{"busy": "stop"}')).toBe('FILE line 1: busy is "stop", but must be one of "steer", "queue", "interrupt"');
	expect(refused('{"limits": []}')).toBe("FILE line 1: limits is [], but must be an object");
	expect(refused('{"endpoints": {"my box": {"url": "http://x"}}}')).toContain('the name "my box" must be letters');
	expect(refused('{"endpoints": {"box": {}}}')).toContain("endpoints.box.url is missing; it must be text in quotes");
	expect(refused('{"endpoints": {"box": {"url": "ftp://x"}}}')).toContain("must be an http or https address");
});

it("a key or a password in the settings is refused in words that do not repeat it", () => {
	expect(refused('{"endpoints": {"box": {"url": "http://me:secret@x"}}}')).toMatch(/url is "http:\/\/…@x", but .* without a user name/);
	const where = "is text, but keys are not kept in the settings; run `holdfast-agent setup key`";
	expect(refused('{"endpoints": {"box": {"url": "http://x", "key": "sk-secret"}}}')).toMatch(`FILE line 1: endpoints.box.key ${where}`);
	expect(refused('{"mcpServers": {"git": {"url": "http://x", "key": "sk-secret"}}}')).toMatch(`FILE line 1: mcpServers.git.key ${where}`);
	for (const text of [
		'{"endpoints": {"box": {"url": "http://me:secret@x", "key": "sk-secret"}}}',
		'{"gateway": {"platforms": {"telegram": {"keys": {"token": "sk-secret"}}}}}',
	])
		expect(refused(text)).not.toContain("secret");
});

it("a wrong flag is named by itself, not by the file", () => {
	expect(refused("{}", [{ flag: "--steps", key: ["limits", "steps"], value: "x" }])).toBe('--steps: limits.steps is "x", but must be a number');
});

it("of an entry with several forms the nearest one is talked about", () => {
	expect(refused('{"mcpServers": {"git": {"command": "x", "argz": []}}}')).toBe(
		"FILE line 1: mcpServers.git.argz is no setting; did you mean mcpServers.git.args?",
	);
	expect(refused('{"endpoints": {"box": {"url": "http://x", "key": {"flie": "a"}}}}')).toContain("did you mean endpoints.box.key.file?");
	expect(refused('{"endpoints": {"box": {"url": "http://x", "headers": {"Authorization": "Bearer x"}}}}')).toContain("has a secret in it; use `key`");
});

it("broken JSON names line and column, and the mistakes that people make", () => {
	expect(refused('{\n\t"model": "x",\n}')).toBe("FILE is no JSON: line 3, column 1: remove the comma before it; correct it, or move it away");
	expect(refused('{\n\t// my model\n\t"model": "x"}')).toContain("line 2, column 2: there are no comments in JSON");
	expect(refused("{\"model\": 'x'}")).toContain("line 1, column 11: JSON has double quotes only");
	expect(refused('{"model": "x"')).toContain("it ends too early; is a } missing?");
	expect(refused('{"model" "x"}')).toContain("a colon is missing after the key");
	expect(refused('{"a": 1 "b": 2}')).toContain("a comma or } is missing");
	expect(refused('{"model": "x\ny"}')).toContain("the quotes do not end on this line");
	expect(refused('{"model": tru}')).toContain('"tru}" is not expected there');
	expect(refused("")).toContain("FILE is empty");
	expect(refused("[]")).toContain("FILE is no object");
	expect(refused(`{"a": ${"[".repeat(5_000)}`)).toContain("nested too deeply");
	expect(refused('{"model": "x", "model": "y"}')).toBe("FILE line 1: model is there twice; remove one");
	expect(refused("<html><body>502</body></html>")).toContain("FILE is no JSON: line 1, column 1");
	expect(refused('{"a": 01}')).toContain("is no JSON");
});

it("an endpoint that there is not is an error", () => {
	expect(refused('{"endpoint": "box"}')).toContain("run `holdfast-agent setup endpoint`");
	expect(refused('{"endpoint": "box", "endpoints": {"other": {"url": "http://x"}}}')).toBe('FILE line 1: endpoint is "box", but endpoints has only other');
});

it("a directory in place of the file is said in words", () => {
	const home = tempHome();
	fs.mkdirSync(home.config);
	expect(() => loadAgentConfig(home)).toThrow(/agent\.json cannot be read \(EISDIR/);
});

it("a change keeps what else is set, and is refused whole if its value cannot be used", async () => {
	const home = homeWith('{"keepDays": 30, "limits": {"parallel": 2}}');
	await changeAgentConfig(home, [
		{ key: ["endpoints", "box.local"], value: { url: "http://127.0.0.1:11434/v1" } },
		{ key: ["endpoint"], value: "box.local" },
		{ key: ["limits", "steps"], value: 7 },
		{ key: ["keepDays"], value: undefined },
	]);
	expect(JSON.parse(fs.readFileSync(home.config, "utf8"))).toEqual({
		limits: { parallel: 2, steps: 7 },
		endpoints: { "box.local": { url: "http://127.0.0.1:11434/v1" } },
		endpoint: "box.local",
	});
	expect(fs.statSync(home.config).mode & 0o777).toBe(0o600);
	const before = fs.readFileSync(home.config, "utf8");
	await expect(changeAgentConfig(home, [{ key: ["limits", "steps"], value: "many" }])).rejects.toMatchObject({ code: "CONFIG" });
	expect(fs.readFileSync(home.config, "utf8")).toBe(before);
});

it("changes of several programs at the same time do not lose each other", async () => {
	const home = tempHome();
	const programs = ["a", "b", "c"].map((name) => startProgram(path.join(import.meta.dirname, "fixtures/changer.mjs"), [home.root, name, "8"]));
	for (const program of programs) await program.line();
	for (const program of programs) program.say("go");
	for (const program of programs) expect(await program.line()).toBe("done");
	expect(Object.keys(loadAgentConfig(home).config.endpoints)).toHaveLength(24);
});

it("on a full disk a change fails by its code and the file stays as it was", async (context) => {
	const disk = smallDisk(context);
	const home = openAgentHome(`${disk.dir}/home`);
	await changeAgentConfig(home, [{ key: ["model"], value: "one" }]);
	disk.fill();
	await expect(changeAgentConfig(home, [{ key: ["model"], value: "two" }])).rejects.toMatchObject({ code: "NO_SPACE" });
	expect(loadAgentConfig(home).config.model).toBe("one");
	expect(fs.readdirSync(home.root).filter((name) => name.startsWith("."))).toEqual([]);
	disk.empty();
});

it("the home is made for its owner alone, and a relative one is refused", async () => {
	const { ownAgentHome } = await import("../../src/base/index.js");
	expect(ownAgentHome({ HOLDFAST_AGENT_HOME: "/x/y/" })).toBe("/x/y/");
	expect(ownAgentHome({ XDG_STATE_HOME: "/state", HOME: "/h" })).toBe("/state/holdfast-agent");
	expect(ownAgentHome({ XDG_STATE_HOME: "state", HOME: "/h" })).toBe("/h/.local/state/holdfast-agent");
	expect(() => ownAgentHome({ HOLDFAST_AGENT_HOME: "here" })).toThrow(/give an absolute path/);
	const dir = tempDir();
	fs.mkdirSync(`${dir}/home`, { mode: 0o755 });
	expect(fs.statSync(openAgentHome(`${dir}/home`).root).mode & 0o777).toBe(0o700);
	expect(fs.statSync(openAgentHome(`${dir}/home`).keys).mode & 0o777).toBe(0o700);
	fs.writeFileSync(`${dir}/file`, "");
	expect(() => openAgentHome(`${dir}/file`)).toThrow(expect.objectContaining({ code: "HOME", message: expect.stringContaining("a file is in its way") }));
	expect(() => openAgentHome("/proc/nowhere/home")).toThrow("cannot make /proc/nowhere/home"); // and does not try for ever
});
