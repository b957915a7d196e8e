import { execFile, spawnSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { decide, loadParser } from "../../src/policy/index.js";
import { project, SOMEONE } from "./corpus.js";

beforeEach(loadParser); // as whoever decides does: how much of a text overflows the parser's stack depends on how fast the machine is

const KB = 1024;
const times = (text: string, length = 100 * KB): string => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const judge = (command: string) => decide(command, { cwd: project(), env: SOMEONE });

test.each([
	["open parentheses", times("(")],
	["open substitutions", times("$(")],
	["open braces", times("{a,")],
	["open heredocs", times("<<E\n")],
	["backquotes", times("`")],
	["open expansions", times("${a:-")],
	["eval of eval", times("eval ")],
	["sudo of sudo", times("sudo ")],
	["a long pipe", times("a|")],
	["nested loops", `${"for i in a b c d e f g h; do ".repeat(12)}ls;${" done;".repeat(12)}`],
	["nested loops of nothing", `${"for i in a b c d e f g h; do ".repeat(12)}x=$i;${" done;".repeat(12)}`],
	["nested shells", `${"sh -c ls; ".repeat(10_000)}`],
	["a command that may be any of its ends", `holdfast run rm ${"-run rm ".repeat(1_900)}`],
	["more links than anybody makes", Array.from({ length: 100 }, (_, at) => `ln -s a l${at}`).join(";")],
	["a variable that doubles", `a=xxxx;${"a=$a$a;".repeat(1_000)}$a`],
	["more than is read", `ls ${times("x", 1100 * KB)}`],
	["a NUL", "ls \0; rm -rf /"],
	["half a character", "ls \ud800"],
])("%s: not understood, so asked about", (_, command) => {
	expect(judge(command)).toMatchObject({ decision: "ask" });
});

test.each([
	["many arguments", `rm -rf / ${times("a ")}`],
	["a long text before", `echo '${times("x")}'; rm -rf /`],
	["many commands before", `${"ls;".repeat(1_000)}rm -rf /`],
	["look-alikes", times("гm -rf / ; ")],
])("%s: the floor still holds", (_, command) => {
	expect(judge(command)).toMatchObject({ decision: "deny", rule: "floor-root" });
});

test.each(["/etc/hostname/a", `/srv/${"x".repeat(300)}`, "/opt/a\0b"])("a path that cannot be looked at is no error: %j", (file) => {
	expect(["allow", "ask"]).toContain(judge(`cp a ${file}`).decision);
});

test("a long text that does nothing is no reason to ask", () => {
	expect(judge(`cat > notes.md <<'EOF'\n${times("rm -rf / and $(other) `things`\n")}\nEOF`).decision).toBe("allow");
	expect(judge(`rm -f ${"a/b ".repeat(100)}`).decision).toBe("allow");
});

test("valid bash that the grammar cannot read is read in another spelling", () => {
	const texts = [
		"cat <<A; cat <<-B\na\nA\n\tb\n\tB\nls",
		"cat <<A <<'B'\na $X\nA\n'b'\nB",
		"for i\ndo echo $i; done",
		"x=`echo a$`",
		"ls $A/$B/*.x",
		"shopt -s extglob; ls !(a|b) *.@(c|h)",
		"exec {fd}<>/dev/null",
		"exec 3<>/dev/null; echo x >&3",
		'echo "r``m" $()',
		"cat > a.txt <<< 'it is'; ls",
		'(tee -a x >> a.txt <<< "one two")',
		`cat > big.txt <<'E'\n${times("line\n", 400 * KB)}\nE`,
	];
	for (const text of texts) expect([text.slice(0, 60), judge(text).rule]).toEqual([text.slice(0, 60), null]);
});

test("another spelling hides nothing: what is asked about or denied in it is found, and named as it was written", () => {
	for (const [text, rule] of [
		["cat <<A; sh <<-B\na\nA\n\trm -rf /\n\tB", "floor-root"],
		["cat <<A; cat <<B; rm -rf /\na\nA\nb\nB", "floor-root"],
		["cat <<A <<B\na\nA\n$(reboot)\nB", "shutdown"],
		["cat <<A <<B\na\nA\nb\nB\nreboot", "shutdown"],
		["cat <<A <<B\na\nA\n`reboot`\nB", "shutdown"],
		["shopt -s extglob; rm -rf !(a|b)", "delete-here"],
		["rm -rf $A/$B/*.x", "delete-outside"],
		["x=`echo a$; reboot`", "shutdown"],
		["exec 3<>/dev/sda", "floor-disk"],
		["exec {fd}<>/dev/sda", "floor-disk"],
		["sh > out <<< 'rm -rf /'", "floor-root"],
		["cat > /dev/sda <<< x", "floor-disk"],
		["cat > a <<< x; reboot", "shutdown"],
		["cat > a.sh <<< 'reboot'; sh a.sh", "shutdown"],
	] as const)
		expect([text, judge(text).rule]).toEqual([text, rule]);
	expect(judge("cat <<A; cat <<-B; reboot\na\nA\nb\nB").part?.text).toBe("reboot");
	for (const text of ["cat <<A <<B\na\nA\n", "echo 'x", "rm ((", 'echo "$(case x in a) cat <<A <<B;; esac\nA\nB\n)"'])
		expect([text, judge(text).decision]).toEqual([text, "ask"]);
});

test("mutated commands: no crash, no hang", async () => {
	const { stdout } = await promisify(execFile)(process.execPath, ["scripts/fuzz.mjs", "1500", "42"], { env: { ...process.env, FUZZ_BUILT: "1" } });
	expect(JSON.parse(stdout)).toMatchObject({ commands: 1500, seed: 42 });
});

const OVERFLOWS = `<<EOF\n${"{ reoOF\n".repeat(1_982)}{ reoot; }`; // found by chance; longer ones are refused for their depth

test("a text that overflows the parser's stack is asked about, and the next one is read as ever", async () => {
	const text = OVERFLOWS;
	for (let times = 0; times < 3; times++) {
		expect(decide(text, { cwd: "/" }).decision).toBe("ask");
		await loadParser();
	}
	expect(decide("ls -la", { cwd: "/" }).decision).toBe("allow");
	expect(decide("for i in a b c; do echo $i; done", { cwd: "/" }).decision).toBe("allow");
});

// As in `holdfast serve`: the command line has one copy of the library, and the part of the page that the agent brings imports another.
test("a text that overflows the parser's stack of one copy of the library does no harm to another copy in the same program", () => {
	const copies = ["policy/index.js", "lib/policy.js"].map((name) => pathToFileURL(path.resolve("dist", name)).href);
	const script = `
		const [one, other] = await Promise.all(${JSON.stringify(copies)}.map((copy) => import(copy)));
		await one.loadParser();
		const said = [one.decide(${JSON.stringify(OVERFLOWS)}, { cwd: "/" }).decision];
		await other.loadParser();
		said.push(other.decide("for i in a b c; do echo $i; done", { cwd: "/" }).decision);
		process.stdout.write(said.join(" "));`;
	const { stdout, stderr, signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", timeout: 100_000 });
	expect({ stdout, stderr, signal }).toEqual({ stdout: "ask allow", stderr: "", signal: null });
});
