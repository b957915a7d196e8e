/** What a remote end with perl does in one request: telling a shell something once only, and watching with questions. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { atEnd, tempDir } from "../../support/home.js";
import { linkTo, ShellHost } from "../../support/shell-host.js";

const RECORD = (text: string) => text.padEnd(63).concat("\n");

const open = () => linkTo(new ShellHost({ shell: "dash" }));

describe("telling a shell", () => {
	/** A shell's directory, whose FIFO somebody reads, and that of a command. */
	function directories() {
		const [dir, slot] = [tempDir("shell"), tempDir("slot")];
		execFileSync("mkfifo", [path.join(dir, "in")]);
		const fifo = fs.openSync(path.join(dir, "in"), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
		atEnd(() => fs.closeSync(fifo));
		const taken = () => {
			const bytes = Buffer.alloc(4096);
			try {
				return bytes.toString("utf8", 0, fs.readSync(fifo, bytes));
			} catch {
				return "";
			}
		};
		const line = (name: string, more = {}) => ({ name, done: "", text: `say ${name}\n`, files: [], needed: [slot], ...more });
		return { dir, slot, taken, line };
	}

	test("it arrives once, however often it is sent, and after its files, which are overwritten in place", async () => {
		const link = await open();
		const { dir, slot, taken, line } = directories();
		fs.writeFileSync(path.join(slot, "exit"), RECORD("exit 0 - a.1").concat("/root\0"));
		const files = [
			{ path: path.join(slot, "exit"), content: RECORD(""), whole: false },
			{ path: path.join(slot, "command"), content: "tab\t back\\slash \\s8; né        w\nline\0", whole: false },
			{ path: path.join(slot, "mark"), content: "1\n", whole: true },
		];
		fs.writeFileSync(path.join(slot, "mark"), "longer than that");
		expect(await link.tell(dir, line("a.2", { files }))).toBe("told");
		expect(taken()).toBe("say a.2\n");
		expect(fs.readFileSync(path.join(slot, "exit"), "latin1")).toBe(RECORD("").concat("/root\0"));
		expect(fs.readFileSync(path.join(slot, "command"), "utf8")).toBe(files[1]?.content);
		expect(fs.readFileSync(path.join(slot, "mark"), "utf8")).toBe("1\n");
		// It has ended meanwhile: what is sent again must not undo that.
		fs.writeFileSync(path.join(slot, "exit"), RECORD("exit 0 - a.2"));
		expect(await link.tell(dir, line("a.2", { files }))).toBe("had");
		expect(fs.readFileSync(path.join(slot, "exit"), "latin1")).toBe(RECORD("exit 0 - a.2"));
		expect(await link.tell(dir, line("a.3", { done: "a.2" }))).toBe("told");
		expect(taken()).toBe("say a.3\n");
		expect(fs.readdirSync(dir).sort()).toEqual(["in", "sent.a.3"]);
	});

	test("a line has the mark of the one before, as new; without that it has a mark of its own", async () => {
		const link = await open();
		const { dir, taken, line } = directories();
		const mark = (name: string) => path.join(dir, `sent.${name}`);
		expect(await link.tell(dir, line("a.1"))).toBe("told");
		const { ino } = fs.statSync(mark("a.1"));
		const then = Date.now() / 1000 - 3600;
		fs.writeFileSync(path.join(mark("a.1"), "moved"), "/tmp");
		fs.utimesSync(mark("a.1"), then, then);
		expect(await link.tell(dir, line("a.2", { done: "a.1" }))).toBe("told");
		expect(fs.statSync(mark("a.2")).ino).toBe(ino);
		expect(fs.statSync(mark("a.2")).mtimeMs / 1000).toBeGreaterThan(then + 1800); // else the next program would take it for an old one
		expect(fs.readdirSync(mark("a.2"))).toEqual([]);
		expect(await link.tell(dir, line("a.3", { done: "a.1" }))).toBe("told");
		expect(taken()).toBe("say a.1\nsay a.2\nsay a.3\n");
		expect(fs.readdirSync(dir).sort()).toEqual(["in", "sent.a.2", "sent.a.3"]);
	});

	test("two links that send the same line at once tell it once, and a line that was taken back is told by none", async () => {
		const links = [await open(), await open()];
		const { dir, taken, line } = directories();
		for (let count = 1; count <= 1000; count++) {
			const one = line(`a.${count}`, { done: count === 1 ? "" : `a.${count - 1}` });
			expect((await Promise.all(links.map((link) => link.tell(dir, one)))).sort()).toEqual(["had", "told"]);
			expect(taken()).toBe(`say a.${count}\n`);
		}
		fs.symlinkSync("withdrawn", path.join(dir, "sent.b"));
		for (const link of links) expect(await link.tell(dir, line("b", { done: "a.1000" }))).toBe("had");
		expect(taken()).toBe("");
		expect(fs.readdirSync(dir).sort()).toEqual(["in", "sent.a.1000", "sent.b"]);
	});

	test("does nothing if something is missing, or if the shell is in another directory", async () => {
		const link = await open();
		const { dir, slot, taken, line } = directories();
		const files = [{ path: path.join(slot, "command"), content: "x", whole: false }];
		expect(await link.tell(dir, line("a.1", { files, needed: [slot, `${slot}.gone`] }))).toBe("gone");
		expect(await link.tell(dir, line("a.1", { files, from: { pid: process.pid, cwd: slot } }))).toBe("otherwise");
		expect(fs.readdirSync(slot)).toEqual([]);
		expect(await link.tell(dir, line("a.1", { files, from: { pid: process.pid, cwd: process.cwd() } }))).toBe("told");
		await expect(link.tell(dir, line("a.2", { files: [{ path: path.join(slot, "no/such"), content: "", whole: false }] }))).rejects.toMatchObject({
			code: "START_FAILED",
		});
		fs.renameSync(path.join(dir, "in"), path.join(dir, "was"));
		await expect(link.tell(dir, line("a.3"))).rejects.toMatchObject({ code: "START_FAILED" });
		expect(fs.existsSync(path.join(dir, "sent.a.3"))).toBe(false);
		expect(taken()).toBe("say a.1\n");
	});
});

describe("a watch with questions", () => {
	const known = { offset: 0, max: 100, records: { exit: "" }, sizes: { meta: -1 } };

	test("has their answers with the news, and can be gone on with", async () => {
		const link = await open();
		const dir = tempDir("slot");
		fs.writeFileSync(path.join(dir, "exit"), RECORD(""));
		const questions = [
			{ ask: "content", path: path.join(dir, "note") },
			{ ask: "ending", path: path.join(dir, "exit") },
		] as const;
		const first = link.watch(dir, known, undefined, { questions });
		fs.writeFileSync(path.join(dir, "out.000000000000000"), "hello");
		const news = await first;
		expect(news).toMatchObject({ bytes: Buffer.from("hello"), answers: [undefined, Buffer.from(RECORD(""))], id: expect.any(Number) });
		const second = link.watch(dir, { ...known, offset: 5 }, undefined, { questions, after: news?.id });
		fs.writeFileSync(path.join(dir, "note"), "n");
		fs.writeFileSync(path.join(dir, "exit"), RECORD("exit 3 -"));
		expect(await second).toMatchObject({
			records: { exit: { text: "exit 3 -" } },
			answers: [Buffer.from("n"), Buffer.from(RECORD("exit 3 -"))],
			bytes: Buffer.alloc(0),
		});
		// An answer that is not remembered there, or was gone on with: the question is asked anew.
		expect(await link.watch(dir, known, undefined, { questions, after: news?.id })).toMatchObject({ bytes: Buffer.from("hello") });
	});

	test("is not answered because of what the near end itself has written", async () => {
		const link = await open();
		const [dir, shell] = [tempDir("slot"), tempDir("shell")];
		execFileSync("mkfifo", [path.join(shell, "in")]);
		fs.writeFileSync(path.join(dir, "exit"), RECORD("exit 0 - a.1"));
		const questions = [{ ask: "ending", path: path.join(dir, "exit") }] as const;
		const next = link.watch(dir, { ...known, records: { exit: "exit 0 - a.1" } }, undefined, { questions });
		const files = [{ path: path.join(dir, "exit"), content: RECORD(""), whole: false }];
		expect(await link.tell(shell, { name: "a.2", done: "", text: "x\n", files, needed: [] })).toBe("told");
		fs.writeFileSync(path.join(dir, "exit"), `${RECORD("exit 0 - a.2")}/\0a.2\0`, { flag: "r+" });
		expect(await next).toMatchObject({ records: { exit: { text: "exit 0 - a.2" } }, answers: [Buffer.from(`${RECORD("exit 0 - a.2")}/\0a.2\0`)] });
	});
});
