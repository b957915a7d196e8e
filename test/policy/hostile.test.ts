import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { decide, loadParser } from "../../src/policy/index.js";
import { project, SOMEONE } from "./corpus.js";

beforeAll(loadParser);

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
	["more than is read", `ls ${times("x", 300 * KB)}`],
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

test("a long text that does nothing is no reason to ask", () => {
	expect(judge(`cat > notes.md <<'EOF'\n${times("rm -rf / and $(other) `things`\n")}\nEOF`).decision).toBe("allow");
	expect(judge(`rm -f ${"a/b ".repeat(100)}`).decision).toBe("allow");
});

test("mutated commands: no crash, no hang", async () => {
	const { stdout } = await promisify(execFile)(process.execPath, ["scripts/fuzz.mjs", "1500", "42"], { env: { ...process.env, FUZZ_BUILT: "1" } });
	expect(JSON.parse(stdout)).toMatchObject({ commands: 1500, seed: 42 });
});

test("a text that overflows the parser's stack is asked about, and the next one is read as ever", async () => {
	const text = `<<EOF\n${"{ reoOF\n".repeat(1_982)}{ reoot; }`; // found by chance; longer ones are refused for their depth
	for (let times = 0; times < 3; times++) {
		expect(decide(text, { cwd: "/" }).decision).toBe("ask");
		await loadParser();
	}
	expect(decide("ls -la", { cwd: "/" }).decision).toBe("allow");
	expect(decide("for i in a b c; do echo $i; done", { cwd: "/" }).decision).toBe("allow");
});
