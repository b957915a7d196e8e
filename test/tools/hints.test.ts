import { describe, expect, test } from "vitest";
import { hintsFor, isDrawing } from "../../src/tools/hints/index.js";
import { lex } from "../../src/tools/hints/lex.js";

const ran = (command: string, exitCode = 0, output = "", signal: string | null = null) => hintsFor(command, { exitCode, output, signal }).join("\n");

describe("exit codes", () => {
	const CASES: [string, number, RegExp | ""][] = [
		["grep x file", 1, /grep.*nothing matched/],
		["cat f | grep -q x", 1, /grep.*nothing matched/],
		["FOO=1 sudo -n /usr/bin/grep x f", 1, /grep.*nothing matched/],
		["cd dir && grep x f", 1, /grep, if it is not of something before it,/],
		["grep x f | wc -l", 1, ""],
		["grep x f; make", 1, ""],
		["grep x nofile", 2, ""],
		["echo 'grep x'", 1, ""],
		["diff a b", 1, /differ/],
		["test -e x", 1, /false/],
		["[ -e x ]", 1, /false/],
		["curl -f http://x", 22, /HTTP error/],
		["make", 127, /no such command/],
		["make", 126, /could not be executed/],
		["make", 137, /usually.*memory/],
		["make", 139, /usually.*SIGSEGV/],
		["make", 130, ""],
		["make", 1, ""],
		["make", 0, ""],
	];
	test.each(CASES)("%s: %i", (command, code, hint) => {
		if (hint === "") expect(ran(command, code)).toBe("");
		else expect(ran(command, code)).toMatch(hint);
	});

	test("a signal that is certain is not called usual", () => {
		expect(ran("make", 137, "", "SIGKILL")).toMatch(/SIGKILL/);
		expect(ran("make", 137, "", "SIGKILL")).not.toMatch(/usually/);
		expect(ran("make", 130, "", "SIGINT")).toBe("");
	});

	test("what has not ended has no code to explain", () => {
		expect(hintsFor("grep x", { exitCode: null, signal: null, output: "" })).toEqual([]);
	});
});

describe("failures behind a pipe", () => {
	const FAILED = [
		"main.c:3:5: error: expected ;",
		"error[E0425]: cannot find value",
		"src/a.ts(3,1): error TS2304: no",
		"Traceback (most recent call last):",
		"npm ERR! code 1",
		"make: *** [all] Error 2",
		"FAILED tests/a.py",
		"3 failed, 5 passed",
		"fatal: not a git repository",
	];
	const FINE = ["", "0 failed, 5 passed", "0 errors", "no error: fine", "compiled with no errors", "errors.ts", "FAILOVER ready"];
	test.each(FAILED)("%s", (line) => {
		expect(ran("make 2>&1 | tail -n 20", 0, `building\n${line}\n`)).toMatch(/Exit code 0 is that of `tail`/);
		expect(ran("make || true", 0, `${line}\n`)).toMatch(/`true` behind \|\|/);
		expect(ran("make 2>&1", 0, line)).toBe("");
		expect(ran("make | ./check", 0, line)).toBe("");
		expect(ran("make | tail; echo done", 0, line)).toBe("");
	});
	test.each(FINE)("not: %s", (line) => expect(ran("make | tail", 0, line)).toBe(""));
});

describe("what belongs into the background", () => {
	const YES = [
		"npm run dev",
		"cd app && npm run dev",
		"PORT=3000 npm start",
		"yarn dev --host",
		"npx vite",
		"vite --port 3000",
		"npx -y http-server .",
		"python3 -m http.server 8000",
		"python manage.py runserver",
		"flask --app x run",
		"uvicorn app:app --reload",
		"node server.js",
		"docker compose up",
		"docker-compose -f a.yml up",
		"tsc --noEmit --watch",
		"tail -f log",
		"nohup ./job",
		"setsid ./job",
		"./job & disown",
		"./server &",
		"./server &  # go",
		"./server & \n",
		"(cd x; ./server) &",
		"{ ./server; } &",
		"echo a; ./server >log 2>&1 &",
		"cat <<EOF >f\nx\nEOF\nnpm run dev",
	];
	test.each(YES)("%s", (command) => expect(hintsFor(command, { exitCode: null, output: "", signal: null }).join()).toMatch(/background=true/));

	const NO = [
		"npm run dev --help",
		"npm run build",
		"npm test",
		"npm run dev:check",
		'echo "npm run dev"',
		"grep 'npm run dev' package.json",
		'git commit -m "use setsid and nohup & more &"',
		"git commit -m 'x &'",
		"echo done # nohup x &",
		"echo a \\&",
		"cat <<'EOF' >f\nnohup a &\nnpm run dev\nEOF",
		"cat <<-EOF\n\tnpm run dev &\n\tEOF\necho x",
		"cat <<A <<B\nnpm run dev\nA\nnohup x &\nB",
		"cat <<< 'nohup x &'",
		"sleep 1 & wait",
		"a && b & c",
		"timeout 5 npm run dev",
		"vite build",
		"docker compose up -d",
		"tail -n 5 log",
		"make 2>&1",
		"make &>log",
		"make >& log",
		"echo $(nohup x &)",
		'echo "$(npm run dev)"',
		"echo ${x:-npm run dev &}",
		"man setsid",
		"which nohup",
		"pip install uvicorn",
	];
	test.each(NO)("not: %s", (command) => expect(ran(command)).toBe(""));
});

test("shell text that ends in the middle of something is taken as it is", () => {
	for (const text of ["'", '"', "`", "$(", "${", "<<", "<<'", "<<EOF", "\\", "a <<EOF\nbody", "((", "$'a\\'", "&&", "|", ";;", "#", "a|", "\0"])
		expect(() => lex(text)).not.toThrow();
	expect(lex("a 'b c' | d&&e\nf").map(({ words, end }) => [words.map(({ text }) => text), end])).toEqual([
		[["a", "b c"], "|"],
		[["d"], "&&"],
		[["e"], "\n"],
		[["f"], ""],
	]);
});

test("hostile text takes no time", () => {
	const before = process.cpuUsage(); // of this program alone, whatever else the machine has to do
	for (const piece of ["<<a ", "$(", "'", "\\", "npm run dev ", "a\n", "<<E\n", "x=1 ", "flask --a b ", "vite --a ", "docker compose -f x ", "tail -x "])
		ran(piece.repeat(20_000), 1, "error".repeat(50_000));
	expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});

test("sudo without a password: here it may get one, on another machine never", () => {
	const outcome = { exitCode: 1, signal: null, output: "sudo: a terminal is required to read the password; either use the -S option\n" };
	expect(hintsFor("/usr/bin/sudo id", outcome)).toEqual([expect.stringMatching(/Call it as `sudo`/)]);
	expect(hintsFor("sudo id", { ...outcome, remote: true })).toEqual([expect.stringMatching(/none is ever sent to another machine/)]);
});

describe("without a terminal", () => {
	const CASES: [string, number | null, string, RegExp | ""][] = [
		["vim server.js", null, "", /`vim` draws on a terminal.*kill it, and start it again with pty=true/],
		["cd src && sudo vi x", 1, "Vim: Error", /`vi` draws.*start it with pty=true/],
		["nano x", 1, "Error opening terminal: dumb.", /`nano` draws/],
		["vim -es -c 'g/x/d' -c wq f", 0, "", ""],
		["vim --version", 0, "VIM", ""],
		["nvim --headless +qa", 0, "", ""],
		["top -b -n 1", 0, "top", ""],
		["top | head", 1, "", ""],
		["echo vim", null, "vim", ""],
		["python3", 0, "", /`python3` read its input, which was empty.*pty=true/],
		["psql mydb", 0, "", /`psql` read its input/],
		["python3 -c 'pass'", 0, "", ""],
		["python3 script.py", 0, "", ""],
		["python3 -m venv x", 0, "", ""],
		["echo 'x = 1' | python3", 0, "", ""],
		["python3 <<E\nx = 1\nE", 0, "", ""],
		["psql -c 'select 1'", 0, "", ""],
		["node", 0, "", /`node` read/],
		["node -e 1", 0, "", ""],
		["read -p 'name: ' x; echo got [$x]", 0, "got []", /`read` got the end of its input/],
		["echo a | while read x; do echo $x; done", 0, "a", ""],
		["while read x; do echo $x; done < f", 0, "a", ""],
		["read -r x < f", 0, "", ""],
		["htop", 127, "bash: htop: command not found\n", /^Exit code 127/],
		["npm init", 0, "Press ^C at any time to quit.\npackage name: (x) ", /It asked something \(package name: \(x\)\).*pty=true/],
		["gdb", 0, "For help, type help.\n(gdb) ", /It asked something \(\(gdb\)\)/],
		["apt install x", 1, "Do you want to continue? [Y/n] Abort.\n", /It asked something .*such as -y/],
		["cat f", 0, "name: x\n", ""],
		["printf 'done.'", 0, "done.", ""],
		["yes | apt install x", 1, "Do you want to continue? [Y/n] ", ""],
	];
	test.each(CASES)("%s: %s", (command, exitCode, output, hint) => {
		const hints = hintsFor(command, { exitCode, output, signal: null }).join("\n");
		if (hint === "") expect(hints).toBe("");
		else expect(hints).toMatch(hint);
	});
});

test("the background is advised for what has not ended by itself", () => {
	const outcome = { exitCode: 1, signal: null, output: "TypeError" };
	for (const command of ["npm start", "nohup ./job"]) expect(hintsFor(command, outcome)).toEqual([]);
	expect(hintsFor("npm start", { ...outcome, exitCode: 0 })).toEqual([]);
	expect(hintsFor("nohup ./job", { ...outcome, exitCode: 0 })).toEqual([expect.stringContaining("background=true")]);
	expect(hintsFor("npm start", { ...outcome, exitCode: null })).toEqual([expect.stringContaining("background=true")]);
	expect(hintsFor("npm start", { ...outcome, exitCode: 143, signal: "SIGTERM" })).toEqual([expect.stringContaining("background=true")]);
});

test("an editor that another program has opened is known by what it printed", () => {
	expect(isDrawing("hint: Waiting for your editor to close the file...\nVim: Warning: Output is not to a terminal\n")).toBe(true);
	expect(isDrawing("\x1b[?1049h\x1b[22;0;0t")).toBe(true);
	expect(isDrawing("echo Vim: Warning: Output is not to a terminal\n\x1b[31mred")).toBe(false);
	const outcome = { exitCode: null, signal: null, output: "", draws: true };
	expect(hintsFor("git commit", outcome)).toEqual([expect.stringMatching(/kill it, and start it again with pty=true, or so that it opens none/)]);
});
