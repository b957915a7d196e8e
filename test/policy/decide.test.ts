import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { decide, loadParser, loadRules, type PlaceFacts, type Rules, type Verdict } from "../../src/api/policy.js";
import { atEnd, tempDir } from "../support/home.js";
import { project, SOMEONE } from "./corpus.js";

beforeAll(loadParser);

const judge = (command: string, options: { cwd?: string; place?: PlaceFacts; there?: { home: string; own: string } } = {}): Verdict =>
	decide(command, { cwd: project(), env: SOMEONE, ...options });

const machine = (name: string): PlaceFacts => ({ name, kind: "ssh", local: false, contained: false });
const container = (contained: boolean): PlaceFacts => ({ name: "docker://debian:12", kind: "docker", local: false, contained });

test("says which part, in bytes, and lists every command there is", () => {
	expect(judge("echo é; sudo reboot | cat")).toEqual({
		decision: "ask",
		rule: "shutdown",
		reason: "it stops the machine",
		part: { start: 9, end: 20, text: "sudo reboot" },
		parts: [
			{ start: 0, end: 7, text: "echo é", program: "echo", decision: "allow", rule: null, reason: null },
			{ start: 9, end: 20, text: "sudo reboot", program: "sudo", decision: "allow", rule: null, reason: null },
			{ start: 9, end: 20, text: "sudo reboot", program: "reboot", decision: "ask", rule: "shutdown", reason: "it stops the machine" },
			{ start: 23, end: 26, text: "cat", program: "cat", decision: "allow", rule: null, reason: null },
		],
	});
});

test("the strictest part decides, wherever it stands", () => {
	expect(judge("reboot; rm -rf /; git push -f")).toMatchObject({ decision: "deny", rule: "floor-root", part: { start: 8, end: 16, text: "rm -rf /" } });
});

test("a part found in joined lines or behind invisible characters is named as it was written", () => {
	expect(judge("ls; r\\\nm -rf /").part).toEqual({ start: 4, end: 14, text: "r\\\nm -rf /" });
	expect(judge("ls; ｒ\u200bm -rf /").part?.text).toBe("ｒ\u200bm -rf /");
	expect(judge("bash -c 'ls; reboot'").part?.text).toBe("bash -c 'ls; reboot'");
});

test("an empty command, blanks and a comment are nothing to decide about", () => {
	for (const command of ["", "  \n", "# rm -rf /"]) expect(judge(command)).toEqual({ decision: "allow", rule: null, reason: null, part: null, parts: [] });
});

test("paths are the real ones: links, a link as working directory, directories changed on the way", () => {
	const dir = tempDir("real");
	for (const name of ["project/build", "other"]) fs.mkdirSync(path.join(dir, name), { recursive: true });
	const cwd = path.join(dir, "project");
	fs.symlinkSync("../other", path.join(cwd, "out"));
	fs.symlinkSync(cwd, path.join(dir, "link"));
	expect(judge("rm -rf build", { cwd: path.join(dir, "link") }).decision).toBe("allow");
	expect(judge(`rm -rf ${cwd}/build`, { cwd: path.join(dir, "link") }).decision).toBe("allow");
	expect(judge("rm -rf out/x", { cwd }).rule).toBe("delete-outside");
	expect(judge("cd out && rm -rf x", { cwd }).rule).toBe("delete-outside");
	expect(judge("cd build && rm -rf x && cd .. && rm -rf build", { cwd }).decision).toBe("allow");
	expect(judge("(cd ../other); rm -rf build", { cwd }).decision).toBe("allow");
});

test("a dangling link is judged by what writing to it would make", () => {
	const dir = tempDir("dangling");
	const [cwd, home] = [path.join(dir, "project"), path.join(dir, "home")];
	for (const name of ["project/sub/a/b", "home/dotfiles"]) fs.mkdirSync(path.join(dir, name), { recursive: true });
	fs.symlinkSync("dotfiles", path.join(home, ".config"));
	const link = (name: string, target: string) => fs.symlinkSync(target, path.join(cwd, name));
	link("notes.md", `${home}/.config/holdfast/policy.json`);
	link("chain.md", "notes.md");
	link("folder", `${home}/.config/holdfast`);
	link("keys", "../home/.aws/credentials");
	link("deep", "sub/a/b");
	link("roundabout.md", "deep/../../../../home/.config/holdfast/policy.json"); // of another place, were `deep` a directory
	link("harmless", "sub/new");
	const verdict = (command: string) => decide(command, { cwd, env: { HOME: home } }).rule;
	for (const file of ["notes.md", "chain.md", "folder/policy.json", "roundabout.md", `${home}/.config/holdfast/policy.json`])
		expect([file, verdict(`printf '{}' > ${file}`), verdict(`cp x ${file}`)]).toEqual([file, "floor-policy", "floor-policy"]);
	expect(verdict("cat keys")).toBe("credentials");
	expect(verdict("echo x > harmless")).toBe(null);
});

test("start-up files, keys and one's own paths count by their names too, where those are links into a directory of dotfiles", async () => {
	const dir = tempDir("dotfiles");
	const [home, cwd] = [path.join(dir, "home"), path.join(dir, "work")];
	for (const name of ["ssh", "aws", "config/systemd", "notes"]) fs.mkdirSync(path.join(home, "dotfiles", name), { recursive: true });
	fs.mkdirSync(path.join(cwd, "rules"), { recursive: true });
	for (const name of ["bashrc", "ssh", "aws", "config"]) fs.symlinkSync(`dotfiles/${name}`, path.join(home, `.${name}`));
	fs.symlinkSync("dotfiles/notes", path.join(home, "notes"));
	fs.symlinkSync("rules", path.join(cwd, ".holdfast"));
	const env = { HOME: home };
	const by = (command: string, rules?: Rules) => decide(command, { cwd, env, ...(rules && { rules }) }).rule;
	const noted = () => {
		const rule = { id: "notes", decision: "deny", reason: "mine", match: { paths: ["~/notes/**"] }, examples: { match: ["cat ~/notes/a"], not: ["cat a"] } };
		fs.mkdirSync(path.join(home, ".config/holdfast"), { recursive: true });
		fs.writeFileSync(path.join(home, ".config/holdfast/policy.json"), JSON.stringify({ rules: [rule] }));
		return loadRules(cwd, env);
	};
	expect(by("echo x >> ~/.bashrc")).toBe("startup");
	expect(by("cp a.service ~/.config/systemd/user/")).toBe("startup");
	expect(by("ln -sfn conf ~/.config")).toBe("startup");
	expect(by("echo k >> ~/.ssh/authorized_keys")).toBe("credentials");
	expect(by("cat ~/.aws/credentials")).toBe("credentials");
	expect(by("echo x > .holdfast/policy.json")).toBe("floor-policy");
	expect(by("cat ~/notes/a", await noted())).toBe("notes");
	expect(by("echo x >> ~/dotfiles/bashrc")).toBe(null);
});

test("a directory that takes the place of one above start-up files is asked about, one more name in it is not", () => {
	const home = tempDir("above");
	const cwd = tempDir("above-work");
	fs.mkdirSync(path.join(home, ".config"));
	const by = (command: string) => decide(command, { cwd, env: { HOME: home } }).rule;
	const asked = [
		"ln -sfn conf ~/.config",
		"ln -sT conf ~/.config",
		"ln -s conf ~/.config/systemd",
		"mv conf ~/.local",
		"mv -T conf ~/.config",
		"cp -r conf ~/.emacs.d",
	];
	expect(asked.filter((command) => by(command) !== "startup")).toEqual([]);
	const free = ["ln -s conf ~/.config", "mv conf ~/.config", "mv -n report.pdf ~", "cp -r conf ~/.config", 'ln -s "$PWD" ~', 'ln -sfn "$PWD" ~/work'];
	expect(free.filter((command) => by(command) !== null)).toEqual([]);
});

test("the root, a home and a directory of the system are told by their own rule, also from within; a directory one works in is asked about", () => {
	for (const cwd of ["/", "/usr", "/home", SOMEONE.HOME]) expect([cwd, judge("rm -rf *", { cwd }).rule]).toEqual([cwd, "floor-root"]);
	expect(judge("rm -rf *", { cwd: "/workspace" })).toMatchObject({ decision: "ask", rule: "delete-here" });
});

test("a container without mounts is a sandbox, a remote machine is not, whatever their names; local links mean nothing on remote paths", () => {
	expect(judge("git push -f", { place: container(true) }).decision).toBe("allow");
	expect(judge("git push -f", { place: container(false) }).decision).toBe("ask");
	expect(judge("rm -rf /", { place: container(true) })).toMatchObject({ decision: "deny", rule: "floor-root" });
	for (const place of ["ssh://me@box", "ssh://docker", "ssh://me@docker:22"])
		expect([place, judge("git push -f", { place: machine(place) }).rule]).toEqual([place, "force-push"]);
	const dir = tempDir("links");
	fs.symlinkSync("/usr", path.join(dir, "work"));
	expect(judge("rm -rf *", { cwd: path.join(dir, "work") }).rule).toBe("floor-root");
	expect(judge("rm -rf *", { cwd: path.join(dir, "work"), place: machine("ssh://me@box") }).rule).toBe("delete-here");
});

test("in a sandbox the default set is off and the floor is not", () => {
	const place = { name: "local+sandbox", kind: "sandbox", local: true, contained: true };
	expect(judge("git push -f; rm -rf ../x", { place }).decision).toBe("allow");
	expect(judge("rm -rf /", { place })).toMatchObject({ decision: "deny", rule: "floor-root" });
	expect(judge("rm ((", { place }).decision).toBe("allow");
});

test("a process that is one of Holdfast's own is known by its pid", async () => {
	const keeper = spawn("sh", ["-c", "echo; read x", "keeper.sh"], { stdio: ["pipe", "pipe", "ignore"] });
	atEnd(() => keeper.kill("SIGKILL"));
	await once(keeper.stdout, "data");
	expect(judge(`kill -9 ${keeper.pid}`)).toMatchObject({ decision: "deny", rule: "floor-holdfast" });
	expect(judge(`kill ${process.pid}`).decision).toBe("allow");
});

test("what another process has open is asked about, whatever it is at this moment", async () => {
	const child = spawn("sleep", ["60"], { stdio: "ignore" });
	atEnd(() => child.kill());
	await once(child, "spawn");
	expect(fs.readlinkSync(`/proc/${child.pid}/fd/0`)).toBe("/dev/null");
	expect(judge(`echo x > /proc/${child.pid}/fd/0`)).toMatchObject({ decision: "ask", rule: "system-files" });
});

test("of a remote machine the home of its login and Holdfast's remote files count; not local directories of the same names", () => {
	const there = { home: "/srv/me", own: "/srv/me/.local/state/holdfast/boxes/1" };
	const far = (command: string) => decide(command, { cwd: "/srv/app", place: machine("ssh://me@box"), env: SOMEONE, there }).rule;
	expect(far("rm -rf ~")).toBe("floor-root");
	expect(far("rm -rf /srv/me")).toBe("floor-root");
	expect(far(`rm -rf ${there.own}`)).toMatch(/^floor-/);
	expect(decide("rm -rf /srv/me", { cwd: "/srv/app", place: machine("ssh://me@box"), env: SOMEONE }).rule).toBe("delete-outside");
});

const THERE = { home: "/home/someone", own: "/home/someone/.local/state/holdfast/boxes/x" };

test("the same text has the same answer here and on another machine, in a directory of the same name and with a home of the same name", () => {
	const texts = ["/tmp/x", "/tmp/work/y", "/var/tmp/x", "build", "../y", "/srv/other", "~/y", "$HOME", ".", "*", "/etc", "$TMPDIR/x", "$UNSET/x"].flatMap(
		(target) => [`rm -rf ${target}`, `chown -R me ${target}`, `cd ${target} && rm -rf *`],
	);
	for (const cwd of ["/nowhere/app", "/tmp/work", "/home/someone"]) {
		const [here, there] = [
			texts.map((text) => judge(text, { cwd })),
			texts.map((text) => judge(text, { cwd, place: machine("ssh://someone@box"), there: THERE })),
		];
		expect(there, cwd).toEqual(here);
	}
	// Only the directory makes a difference: what stands beside the work is not everybody's.
	expect(judge("rm -rf /tmp/work/y", { cwd: "/nowhere/app" }).decision).toBe("allow");
	expect(judge("rm -rf /tmp/work/y", { cwd: "/tmp/work/app" })).toMatchObject({ decision: "ask", rule: "delete-outside" });
});

test("what another machine runs through ssh is not in this one's working directory, whatever its path", () => {
	const [cwd, other] = ["/nowhere/app", "/nowhere/else"];
	for (const [text, rule] of [
		["ssh box 'rm -rf /nowhere/app/build'", "delete-outside"],
		["docker exec c rm -rf /nowhere/app/build", "delete-outside"],
		["ssh box 'chown -R me /nowhere/app/build'", "system-permissions"],
		["ssh box umount /nowhere/app/disk", "mounts"],
	] as const) {
		expect(judge(text, { cwd }), text).toMatchObject({ decision: "ask", rule });
		expect(judge(text, { cwd: other }), text).toEqual(judge(text, { cwd }));
	}
	expect(judge("ssh box 'rm -rf /app'", { cwd: "/app" })).toMatchObject({ decision: "ask", rule: "delete-outside" });
	expect(judge("docker exec web sh -c 'rm -rf /data'", { cwd })).toMatchObject({ decision: "ask", rule: "delete-outside" });
	expect(judge("docker exec web rm -rf /usr", { cwd })).toMatchObject({ decision: "deny", rule: "floor-root" });
	expect(judge("ssh box 'rm -rf /tmp/x'", { cwd })).toMatchObject({ decision: "allow" });
});

test("with an environment of its own the home in it counts for everything, Holdfast's own files too", () => {
	const env = { HOME: "/srv/other" };
	const rule = (command: string) => decide(command, { cwd: "/srv/app", env }).rule;
	expect(rule("cat /srv/other/.local/state/holdfast/token")).toBe("floor-policy");
	expect(rule("echo > /srv/other/.config/holdfast/policy.json")).toBe("floor-policy");
	expect(rule("cat /srv/other/.ssh/id_rsa")).toBe("credentials");
});

test("a file outside the project is not written over unasked; a new one, and one of the same repository, may be", () => {
	const dir = tempDir("outside");
	for (const name of ["home", "repo/.git", "repo/packages/a"]) fs.mkdirSync(path.join(dir, name), { recursive: true });
	for (const name of ["home/notes.txt", "repo/README.md"]) fs.writeFileSync(path.join(dir, name), "x");
	const rule = (command: string) => decide(command, { cwd: path.join(dir, "repo/packages/a"), env: { HOME: path.join(dir, "home") } }).rule;
	expect(rule("echo x > ~/notes.txt")).toBe("delete-outside");
	expect(rule("echo x >> ~/notes.txt")).toBe(null);
	expect(rule("echo x > ~/new.txt")).toBe(null);
	expect(rule("echo x > ../../README.md")).toBe(null);
	expect(rule("rm ../../README.md")).toBe(null);
	expect(rule("rm ~/notes.txt")).toBe("delete-outside");
	expect(rule("rm -rf ../../packages")).toBe("delete-outside");
});
