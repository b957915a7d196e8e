import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Link } from "../../../src/places/link/link.js";
import type { Known, WatchAnswer } from "../../../src/places/link/watched.js";
import { tempDir } from "../../support/home.js";
import { linkTo, SHELLS, ShellHost } from "../../support/shell-host.js";

const KINDS = [...SHELLS.map((shell) => ({ shell, perl: false })), { shell: "dash" as const, perl: true }];
const record = (text: string) => `${text.padEnd(63)}\n`;
const overwrite = (file: string, text: string) => fs.writeFileSync(file, record(text), { flag: "r+" });
const segment = (dir: string, offset: number) => path.join(dir, `out.${String(offset).padStart(15, "0")}`);

function processDir(): string {
	const dir = path.join(tempDir("a process"), "proc_1");
	fs.mkdirSync(dir);
	for (const name of ["state", "exit", "limit"]) fs.writeFileSync(path.join(dir, name), record(""));
	return dir;
}
const BLANK: Known = { offset: 0, records: { state: "", exit: "", limit: "" }, sizes: { meta: -1 }, max: 1000 };

describe.each(KINDS)("a watch at $shell, perl: $perl", ({ shell, perl }) => {
	const open = () => linkTo(new ShellHost({ shell }), { perl });
	/** Parked for certain: an answer that was to come at once would have come before that of a later request. */
	async function parked(link: Link, dir: string, known: Known): Promise<{ news: Promise<WatchAnswer | undefined> }> {
		let answered = false;
		const news = link.watch(dir, known).finally(() => {
			answered = true;
		});
		await link.watch(dir, { ...known, offset: 0, records: { state: "something else" } }); // one that is answered at once
		expect(answered).toBe(false);
		return { news };
	}

	test("is answered when a record is overwritten in place, with its time", async () => {
		const [link, dir] = [await open(), processDir()];
		const { news } = await parked(link, dir, BLANK);
		overwrite(path.join(dir, "exit"), "exit 3 -");
		const { records, ...rest } = (await news) as WatchAnswer;
		expect(records).toMatchObject({ state: { text: "" }, exit: { text: "exit 3 -" }, limit: { text: "" } });
		expect(Math.abs((records.exit?.at ?? 0) - fs.statSync(path.join(dir, "exit")).mtimeMs)).toBeLessThan(1000);
		expect(rest).toEqual({ sizes: { meta: -1 }, segments: [], offset: 0, bytes: Buffer.alloc(0), end: 0 });
	});

	test("is answered when the log grows, in a segment or by one, and when a file does", async () => {
		const [link, dir] = [await open(), processDir()];
		const first = await parked(link, dir, BLANK);
		fs.writeFileSync(segment(dir, 0), "a\0b");
		expect(await first.news).toMatchObject({ offset: 0, bytes: Buffer.from("a\0b"), end: 3, segments: [{ offset: 0, size: 3 }] });
		const second = await parked(link, dir, { ...BLANK, offset: 3 });
		fs.appendFileSync(segment(dir, 0), "cd");
		expect(await second.news).toMatchObject({ offset: 3, bytes: Buffer.from("cd"), end: 5 });
		const third = await parked(link, dir, { ...BLANK, offset: 5 });
		fs.writeFileSync(segment(dir, 5), "next");
		expect(await third.news).toMatchObject({ offset: 5, bytes: Buffer.from("next"), end: 9, segments: [{ size: 5 }, { offset: 5, size: 4 }] });
		const fourth = await parked(link, dir, { ...BLANK, offset: 9 });
		fs.writeFileSync(`${dir}-meta`, "keeper 1 2\n");
		fs.renameSync(`${dir}-meta`, path.join(dir, "meta"));
		expect(await fourth.news).toMatchObject({ sizes: { meta: 11 }, bytes: Buffer.alloc(0), end: 9 });
	});

	test("is answered at once with what there is, from where the log still is, no more than was asked for", async () => {
		const [link, dir] = [await open(), processDir()];
		fs.writeFileSync(segment(dir, 100), "0123456789");
		fs.writeFileSync(segment(dir, 110), "abc");
		expect(await link.watch(dir, { ...BLANK, max: 4 })).toMatchObject({ offset: 100, bytes: Buffer.from("0123"), end: 113 });
		expect(await link.watch(dir, { ...BLANK, offset: 104, max: 3 })).toMatchObject({ offset: 104, bytes: Buffer.from("456"), end: 113 });
		expect(await link.watch(dir, { ...BLANK, offset: 112, max: 4 })).toMatchObject({ offset: 112, bytes: Buffer.from("c"), end: 113 });
	});

	test("a record that is not whole is not there, and a directory that is not there is said", async () => {
		const [link, dir] = [await open(), processDir()];
		fs.writeFileSync(path.join(dir, "exit"), "exit 0 -\n");
		fs.rmSync(path.join(dir, "limit"));
		overwrite(path.join(dir, "state"), "open");
		expect((await link.watch(dir, BLANK))?.records).toMatchObject({ state: { text: "open" }, exit: { text: "" }, limit: { text: "" } });
		expect(await link.watch(`${dir}-not`, BLANK)).toBeUndefined();
		const { news } = await parked(link, dir, { ...BLANK, records: { state: "open" } });
		fs.rmSync(dir, { recursive: true });
		await expect(news).resolves.toSatisfy((last: WatchAnswer | undefined) => last === undefined || last.records.state?.text === ""); // seen while it went
	});

	test("several of the same directory are answered each by what it knows", async () => {
		const [link, dir] = [await open(), processDir()];
		fs.writeFileSync(segment(dir, 0), "12345");
		const behind = await parked(link, dir, { ...BLANK, offset: 5 });
		const ahead = await parked(link, dir, { ...BLANK, offset: 8 });
		fs.appendFileSync(segment(dir, 0), "67");
		expect(await behind.news).toMatchObject({ offset: 5, bytes: Buffer.from("67") });
		fs.appendFileSync(segment(dir, 0), "89");
		expect(await ahead.news).toMatchObject({ offset: 8, bytes: Buffer.from("9") });
	});

	test("is given up when its caller does, and the link goes on", async () => {
		const [link, dir] = [await open(), processDir()];
		const caller = new AbortController();
		const news = link.watch(dir, BLANK, caller.signal);
		caller.abort();
		await expect(news).rejects.toMatchObject({ code: "ABORTED" });
		await link.ping();
		overwrite(path.join(dir, "exit"), "exit 0 -");
		expect((await link.watch(dir, BLANK))?.records.exit?.text).toBe("exit 0 -");
		expect(link.pending).toBe(0);
	});

	test("follows a file from before it is there", async () => {
		const [link, dir] = [await open(), tempDir()];
		const file = path.join(dir, "later", "a file ");
		const there = link.follow(file, -1, 0);
		const bytes = link.follow(file, 0, 3);
		fs.mkdirSync(path.dirname(file));
		fs.writeFileSync(file, "12345");
		expect((await there).size).toBeLessThanOrEqual(5);
		expect(await bytes).toEqual({ bytes: Buffer.from("123"), size: 5 });
	});

	test("a hundred at once: each is answered once, with its own", async () => {
		const link = await open();
		const dirs = Array.from({ length: 100 }, processDir);
		const answers = dirs.map((dir) => link.watch(dir, BLANK));
		await link.ping();
		for (const [index, dir] of dirs.entries()) fs.writeFileSync(segment(dir, 0), `log ${index}`);
		expect((await Promise.all(answers)).map((news) => news?.bytes.toString())).toEqual(dirs.map((_, index) => `log ${index}`));
		expect(link.pending).toBe(0);
	});
});
