import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadTasks, type TaskItem } from "../../src/tasks/index.js";
import { folder, good, put } from "./support.js";

const one = (dir: string): Extract<TaskItem, { kind: "harbor" }> => {
	const { items, problems } = loadTasks(dir);
	expect(problems).toEqual([]);
	expect(items).toHaveLength(1);
	return items[0] as Extract<TaskItem, { kind: "harbor" }>;
};
const SEPARATE = '[verifier.environment]\ndocker_image = "x"\n';
const STEP = '[[steps]]\nname = "a"\n';
const wrong = (dir: string): string[] => {
	const { items, problems } = loadTasks(dir);
	expect(items).toEqual([]);
	return problems.map(({ key, text }) => `${key ?? "-"}: ${text}`);
};

describe("a task in Harbor's format", () => {
	it("has the defaults of the format, and no marks of a benchmark in its instruction", () => {
		const { key, task } = one(good(path.join(folder(), "sum")));
		expect(key).toBe("sum");
		expect(task.instruction).toBe("Make it work.");
		expect(task.settings.verifier.timeout_sec).toBe(600);
		expect(task.settings.agent.timeout_sec).toBeUndefined();
		expect(task.settings.environment.build_timeout_sec).toBe(600);
		expect(task.image).toEqual({ from: "built", folder: path.join(task.folder, "environment") });
	});

	it("of version 1.0 is the same task as its 1.3 form", () => {
		const old = one(good(folder(), 'version = "1.0"\n[environment]\nmemory = "2G"\nstorage = "512M"\nallow_internet = false\n'));
		const now = one(good(folder(), 'schema_version = "1.3"\n[environment]\nmemory_mb = 2048\nstorage_mb = 512\nnetwork_mode = "no-network"\n'));
		expect(old.task.settings.environment).toEqual(now.task.settings.environment);
		const tests = (keys: string) => one(good(folder(), SEPARATE + keys)).task.settings.verifier.environment;
		expect(tests('memory = "2G"\nallow_internet = false\n')).toEqual(tests('memory_mb = 2048\nnetwork_mode = "no-network"\n'));
	});

	it("names unknown keys once, and is loaded", () => {
		const { items, warnings } = loadTasks(good(folder(), 'colour = "red"\n[agent]\nmood = 1\n[metadata]\nanything = "goes"\n[[task.authors]]\nname = "Jo"\n'));
		expect(items).toHaveLength(1);
		expect(warnings.map(({ key }) => key)).toEqual(["colour", "agent.mood"]);
	});

	it("has another digest when a file, a permission or a setting changes, and the same one elsewhere", () => {
		const [a, b, c] = [good(folder()), good(folder()), good(folder(), "", { "tests/data": "x" })];
		expect(one(a).digest).toBe(one(b).digest);
		expect(one(c).digest).not.toBe(one(a).digest);
		expect(one(good(folder(), "[agent]\ntimeout_sec = 5\n")).digest).not.toBe(one(a).digest);
	});

	it("with steps has an instruction and tests for each", () => {
		const dir = put(folder(), {
			"task.toml": '[environment]\ndocker_image = "x"\n[[steps]]\nname = "a"\nmin_reward = 0.5\n[[steps]]\nname = "b"\n[steps.verifier]\ntimeout_sec = 5\n',
			"steps/a/instruction.md": "first",
			"steps/b/instruction.md": "second",
			"tests/test.sh": "",
		});
		const { task } = one(dir);
		expect(task.steps.map(({ name, instruction, settings }) => [name, instruction, settings.min_reward, settings.verifier.timeout_sec])).toEqual([
			["a", "first", 0.5, 600],
			["b", "second", undefined, 5],
		]);
	});

	it.each([
		["compose", "", { "environment/docker-compose.yaml": "services: {}" }, /environment\/docker-compose.yaml: several containers/],
		["windows", '[environment]\nos = "windows"', {}, /environment.os: windows is not supported/],
		["GPUs", "[environment]\ngpus = 1", {}, /environment.gpus: /],
		["TPUs", '[environment]\ntpu = { type = "v5", topology = "1x1" }', {}, /environment.tpu: /],
		["a list of hosts", '[environment]\nnetwork_mode = "allowlist"', {}, /environment.network_mode: a list of allowed hosts/],
		["hosts without a list", '[agent]\nallowed_hosts = ["example.org"]', {}, /agent.allowed_hosts: a list of allowed hosts/],
		["kinds of GPUs", '[environment]\ngpu_types = ["H100"]', {}, /environment.gpu_types: /],
		["a list of hosts for the tests", `${SEPARATE}network_mode = "allowlist"`, {}, /verifier.environment.network_mode: a list/],
		["a size of the tests' place that is none", `${SEPARATE}memory = "much"`, {}, /verifier.environment.memory: is "much"/],
		["another user in a step", `${STEP}[steps.agent]\nuser = "root"`, {}, /steps.a.agent.user: differs from agent.user/],
		["tests of a step elsewhere", `${STEP}[steps.verifier.environment]\ndocker_image = "x"`, {}, /steps.a.verifier.environment: is not supported/],
		["separate tests of a step", `${STEP}[steps.verifier]\nenvironment_mode = "separate"`, {}, /steps.a.verifier.environment_mode: differs/],
		["a network for the agent alone", '[agent]\nnetwork_mode = "no-network"', {}, /agent.network_mode: differs/],
		[
			"shared with an environment of its own",
			'[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ndocker_image = "x"',
			{},
			/environment_mode: is "shared"/,
		],
		["a separate verifier without an image", '[verifier]\nenvironment_mode = "separate"', {}, /verifier.environment_mode: is separate/],
		["a time-out of 0", "[agent]\ntimeout_sec = 0", {}, /agent.timeout_sec: cannot be used/],
		["an unknown version", 'schema_version = "9.0"', {}, /schema_version: cannot be used/],
		["a size that is none", '[environment]\nmemory = "much"', {}, /environment.memory: is "much"/],
		["an artifact with ..", 'artifacts = ["/a/../etc"]', {}, /artifacts.0/],
		["an artifact's destination outside", 'artifacts = [{ source = "/a", destination = "../x" }]', {}, /artifacts.0/],
		["a step called ..", '[[steps]]\nname = ".."', {}, /steps.0.name: /],
		["broken TOML", "a = [", {}, /-: task.toml cannot be read in line 1/],
		["a link out of the task", "", { "tests/passwd": "->/etc/passwd" }, /-: the link tests\/passwd leads out of the task/],
		["a link above the task", "", { "tests/up": "->../../../x" }, /-: the link tests\/up leads out/],
	])("is refused by name with %s", (_, toml, files, words) => {
		expect(wrong(good(folder(), toml, files)).join("\n")).toMatch(words);
	});

	it("is refused without instruction, tests or image", () => {
		expect(wrong(put(folder(), { "task.toml": "" }))).toEqual([
			"-: there is no instruction.md",
			"-: there is no tests/test.sh, which decides about the result",
			"environment.docker_image: is missing, and there is no environment/Dockerfile to build from",
		]);
	});

	it("may have links inside itself", () => {
		expect(one(good(folder(), "", { "tests/again": "->test.sh" })).task.name).toBeDefined();
	});
});

describe("a folder of tasks", () => {
	it("has those that can be run, and what is wrong with the others; names stay apart", () => {
		const dir = folder();
		good(path.join(dir, "b"), '[task]\nname = "same"\n');
		good(path.join(dir, "a"), '[task]\nname = "same"\n');
		good(path.join(dir, "bad"), "[environment]\ngpus = 2\n");
		put(dir, { "notes/readme": "no task" });
		const { items, problems } = loadTasks(dir);
		expect(items.map(({ key }) => key)).toEqual(["same", "same~2"]);
		expect(problems.map(({ at }) => path.basename(at))).toEqual(["bad"]);
	});

	it("names what looks like a task and is none that can be run: a link, the first format of Terminal-Bench", () => {
		const dir = folder();
		good(path.join(dir, "a"));
		const elsewhere = good(folder());
		put(dir, { link: `->${elsewhere}`, "old/task.yaml": "instruction: x\n" });
		const { items, problems } = loadTasks(dir);
		expect(items.map(({ key }) => key)).toEqual(["a"]);
		expect(problems.map(({ at, text }) => `${path.basename(at)} ${text.split(";")[0]}`)).toEqual([
			"link is a link to a task",
			"old is a task in the first format of Terminal-Bench (task.yaml)",
		]);
		expect(loadTasks(path.join(dir, "old")).problems).toHaveLength(1);
		expect(loadTasks(path.join(dir, "link")).items).toHaveLength(1); // named itself it is meant
	});

	it("without tasks, and one that does not exist, are errors", () => {
		expect(() => loadTasks(folder())).toThrow(/has no tasks: no folder in it has a task.toml/);
		expect(() => loadTasks("/no/such")).toThrow(/there is no \/no\/such/);
	});
});
