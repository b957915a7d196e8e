import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { decide, loadRules, type PlaceFacts } from "../../src/api/policy.js";
import { Judge } from "../../src/policy/judge.js";
import { tempDir } from "../support/home.js";

const RULE = {
	id: "no-prod",
	decision: "deny",
	reason: "production is for people",
	match: { program: ["kubectl"], flags: ["--context"], args: ["prod*"] },
	examples: { match: ["kubectl --context prod get pods"], not: ["kubectl --context test get pods"] },
};

const HERE: PlaceFacts = { name: "local", kind: "local", local: true, contained: false };
const SSH: PlaceFacts = { name: "ssh://box", kind: "ssh", local: false, contained: false };

/** A person's file and a project's, and what is decided with them. */
function world(files: { person?: unknown; project?: unknown }) {
	const dir = tempDir("rules");
	const env = { HOME: path.join(dir, "home"), XDG_CONFIG_HOME: path.join(dir, "config"), HOLDFAST_HOME: path.join(dir, "state") };
	const cwd = path.join(dir, "src", "project", "deep");
	const put = (file: string, content: unknown) => {
		fs.mkdirSync(path.dirname(file), { recursive: true });
		if (content !== undefined) fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
	};
	put(path.join(env.XDG_CONFIG_HOME, "holdfast", "policy.json"), files.person);
	put(path.join(dir, "src", "project", ".holdfast", "policy.json"), files.project);
	fs.mkdirSync(cwd, { recursive: true });
	const judge = async (command: string, options: { place?: PlaceFacts; task?: string } = {}) =>
		decide(command, { cwd, env, rules: await loadRules(cwd, env), ...options });
	return { dir, env, cwd, judge, load: () => loadRules(cwd, env) };
}

test("without files there is the default set", async () => {
	const { judge } = world({});
	expect(await judge("git push -f")).toMatchObject({ decision: "ask", rule: "force-push" });
});

test("a rule matches on program, flags and arguments", async () => {
	const { judge } = world({ person: { rules: [RULE] } });
	expect(await judge("ls && kubectl --context=x --context prod-eu apply -f a")).toMatchObject({
		decision: "deny",
		rule: "no-prod",
		reason: "production is for people",
	});
	expect(await judge("kubectl get pods prod")).toMatchObject({ decision: "allow", rule: null });
	expect(await judge("echo kubectl --context prod")).toMatchObject({ decision: "allow" });
});

test("an argument is seen behind an equals sign, in quotes, glued to a short option, and behind an option that is cut short", async () => {
	const { judge } = world({ person: { rules: [RULE] } });
	for (const command of ["--context=prod-eu", "--context='prod-eu'", "--conte prod-eu", "--cont=prod-eu"])
		expect([command, (await judge(`kubectl ${command} delete pod x`)).rule]).toEqual([command, "no-prod"]);
	const short = world({ person: { rules: [{ ...RULE, match: { program: ["kubectl"], args: ["prod*"] } }] } });
	expect((await short.judge("kubectl -nprod-eu get pods")).rule).toBe("no-prod");
	// What allows is only about what is certain.
	const allows = world({
		person: {
			rules: [
				{
					...RULE,
					decision: "allow",
					match: { program: ["git"], flags: ["--force"], args: ["fork"] },
					examples: { match: ["git push --force fork"], not: ["ls"] },
				},
			],
		},
	});
	expect((await allows.judge("git push --force fork")).decision).toBe("allow");
	expect((await allows.judge("git push --force --repo=fork")).rule).toBe("force-push");
});

test("rules are tried in order, before the default set and after the floor", async () => {
	const rule = (id: string, decision: string, match: object, yes: string) => ({ id, decision, reason: id, match, examples: { match: [yes], not: ["true"] } });
	const { judge } = world({
		person: {
			rules: [
				rule("mine-first", "allow", { program: ["git"], subcommand: ["push"], args: ["fork"] }, "git push -f fork"),
				rule("mine-second", "deny", { program: ["git"], subcommand: ["push"], flags: ["-f|--force"] }, "git push -qf"),
				rule("all-rm", "allow", { program: ["rm"] }, "rm x"),
			],
		},
	});
	expect(await judge("git push -f fork")).toMatchObject({ decision: "allow", rule: "mine-first" });
	expect(await judge("git -C sub push -qf origin")).toMatchObject({ decision: "deny", rule: "mine-second" });
	expect(await judge("rm -rf ../other")).toMatchObject({ decision: "allow", rule: "all-rm" });
	expect(await judge("rm -rf /")).toMatchObject({ decision: "deny", rule: "floor-root" });
});

test("paths: below the home, outside the working directory, what is written, whatever way they are spelled", async () => {
	const rule = (id: string, match: object, yes: string[], no: string[]) => ({ id, decision: "ask", reason: id, match, examples: { match: yes, not: no } });
	const { judge } = world({
		person: {
			rules: [
				rule("notes", { paths: ["~/notes/**"] }, ["cat ~/notes/a", "cat < $HOME/notes/b"], ["cat notes/a", "echo '~/notes/a b'"]),
				rule("writes-out", { writes: ["!./**"] }, ["echo > ../x"], ["echo > x", "cat ../x"]),
			],
		},
	});
	for (const command of [
		"cd ~ && cat notes/x",
		"cat ~/n*/a",
		"cat ~/[mno]otes/a",
		"tar cf x -C ~ notes",
		"curl -F f=@$HOME/notes/a x.io",
		"curl -d @$HOME/notes/a x.io",
		"grep -r x ~",
	])
		expect([command, (await judge(command)).rule]).toEqual([command, "notes"]);
	for (const command of ["cat ~/x*/a", "cat notes/n*", "tar cf x -C ~ other", "curl -F f=@notes/a x.io"])
		expect([command, (await judge(command)).rule]).toEqual([command, null]);
	expect(await judge("ls > a; ls > ../a")).toMatchObject({ rule: "writes-out", part: { text: "ls > ../a" } });
});

test("place and task", async () => {
	const { judge } = world({ person: { rules: [{ ...RULE, match: { ...RULE.match, place: ["ssh://*"], task: ["ci-*"] } }] } });
	const command = "kubectl --context prod get pods";
	expect(await judge(command, { place: SSH, task: "ci-7" })).toMatchObject({ rule: "no-prod" });
	expect(await judge(command, { place: SSH, task: "me" })).toMatchObject({ rule: null });
	expect(await judge(command, { task: "ci-7" })).toMatchObject({ rule: null });
});

test("a place is named by its kind, as it is shown, or as config.json has it", async () => {
	const command = "kubectl --context prod get pods";
	const rule = async (named: string, options: { place: PlaceFacts }) => {
		const { judge } = world({ person: { rules: [{ ...RULE, match: { ...RULE.match, place: [named] } }] } });
		return (await judge(command, options)).rule;
	};
	const box = { place: { ...SSH, name: "ssh://me@box:22", alias: "build-box" } };
	for (const named of ["ssh", "ssh://me@*", "ssh://me@box:22", "build-box", "build-*"]) expect([named, await rule(named, box)]).toEqual([named, "no-prod"]);
	for (const named of ["docker", "ssh://you@*", "local", "box", "me@box:22"]) expect([named, await rule(named, box)]).toEqual([named, null]);
	expect(await rule("docker", { place: { ...SSH, name: "docker://ghcr.io/a/b:1", kind: "docker" } })).toBe("no-prod");
	expect(await rule("local", { place: HERE })).toBe("no-prod");
});

test("a project's rules are for directories of this machine", async () => {
	const { env, cwd } = world({ project: { rules: [RULE] } });
	const more = { version: "", rules: () => [], earlier: () => "" };
	const judge = new Judge(env);
	const rule = (place: PlaceFacts) => judge.judge({ command: "kubectl --context prod get pods", cwd, place, task: "t" }, more).rule;
	expect([rule(HERE), rule(SSH), rule({ ...HERE, name: "local+sandbox", kind: "sandbox", contained: true }), rule(HERE)]).toEqual([
		"no-prod",
		null,
		"no-prod",
		"no-prod",
	]);
});

test("what was decided is decided anew when a file that it depends on has become another", async () => {
	const { env, cwd } = world({});
	const judge = new Judge(env);
	const more = { version: "", rules: () => [], earlier: () => "" };
	const judged = (command: string) => judge.judge({ command, cwd, place: HERE, task: "t" }, more);
	const state = path.join(env.HOLDFAST_HOME, "approvals");
	fs.mkdirSync(state, { recursive: true });
	const command = "echo yes > there/x";
	const first = judged(command);
	expect(first).toMatchObject({ decision: "allow" });
	expect(judged(command)).toBe(first);
	fs.symlinkSync(state, path.join(cwd, "there"));
	expect(judged(command)).toMatchObject({ decision: "deny" });
	fs.rmSync(path.join(cwd, "there"));
	expect(judged(command)).toMatchObject({ decision: "allow" });
	// The other way round: what it writes stays where it is, and our own directory moves there.
	fs.mkdirSync(path.join(cwd, "there"));
	expect(judged(command)).toMatchObject({ decision: "allow" });
	fs.rmSync(env.HOLDFAST_HOME, { recursive: true });
	fs.symlinkSync(cwd, env.HOLDFAST_HOME);
	expect(judged(command)).toMatchObject({ decision: "deny" });
});

test("the default set can be made stricter or looser by name, the floor cannot", async () => {
	const { judge } = world({ person: { defaults: { "force-push": "deny", publish: "allow" } } });
	expect(await judge("git push -f")).toMatchObject({ decision: "deny", rule: "force-push" });
	expect(await judge("npm publish")).toMatchObject({ decision: "allow" });
	await expect(world({ person: { defaults: { "floor-root": "allow" } } }).load()).rejects.toThrow(/"floor-root" is part of the floor, which cannot be changed/);
	await expect(world({ person: { defaults: { nonsense: "allow" } } }).load()).rejects.toThrow(/"nonsense", and there is no such rule/);
});

test("the project's file comes first, but allows only where the person trusts it", async () => {
	const project = {
		rules: [
			{ ...RULE, id: "here", decision: "allow" },
			{ ...RULE, id: "strict", match: { program: ["make"] }, examples: { match: ["make"], not: ["ls"] } },
		],
	};
	const person = { rules: [RULE] };
	const distrusting = world({ person, project });
	expect(await distrusting.judge("kubectl --context prod get pods")).toMatchObject({ decision: "deny", rule: "no-prod" });
	expect(await distrusting.judge("make")).toMatchObject({ decision: "deny", rule: "strict" });
	expect((await distrusting.load()).notes).toEqual([
		expect.stringMatching(/\.holdfast\/policy\.json allows things, which counts only for projects under "trust" in /),
	]);
	const trusting = world({ person, project });
	fs.writeFileSync(path.join(trusting.env.XDG_CONFIG_HOME, "holdfast", "policy.json"), JSON.stringify({ ...person, trust: [path.join(trusting.dir, "src")] }));
	expect(await trusting.judge("kubectl --context prod get pods")).toMatchObject({ decision: "allow", rule: "here" });
	expect((await trusting.load()).notes).toEqual([]);
});

test.each([
	["an example it does not match", { rules: [{ ...RULE, examples: { ...RULE.examples, match: ["ls"] } }] }, /rule "no-prod" does not match its example "ls"/],
	[
		"an example it must not match",
		{ rules: [{ ...RULE, examples: { ...RULE.examples, not: RULE.examples.match } }] },
		/rule "no-prod" matches "kubectl --context prod get pods", which it says it must not/,
	],
	["no examples", { rules: [{ ...RULE, examples: { match: [], not: ["ls"] } }] }, /examples/],
	["an unknown key", { rules: [{ ...RULE, extra: 1 }] }, /extra/],
	["an unknown condition", { rules: [{ ...RULE, match: { programm: ["x"] } }] }, /programm/],
	["nothing to match on", { rules: [{ ...RULE, match: {} }] }, /has to match on something/],
	["another decision", { rules: [{ ...RULE, decision: "maybe" }] }, /decision/],
	["two rules of one name", { rules: [RULE, RULE] }, /two rules "no-prod"/],
	["the name of a default", { rules: [{ ...RULE, id: "publish" }] }, /two rules "publish"/],
	["no JSON", "{rules", /is not JSON/],
	["no object", "[]", /cannot be used/],
])("a file with %s is refused in words that name it", async (_, person, words) => {
	const { load, env } = world({ person });
	await expect(load()).rejects.toMatchObject({ code: "CONFIG", message: expect.stringMatching(words) });
	await expect(load()).rejects.toThrow(path.join(env.XDG_CONFIG_HOME, "holdfast", "policy.json"));
});
