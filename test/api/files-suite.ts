/** `task.files` at one place: bytes both ways, whatever they are called and however many. The same cases everywhere. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { HoldfastError, openRuntime, type RuntimeOptions, type Task } from "../../src/index.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";
import { hostileTree, picture } from "../support/trees.js";

export interface FilesPlace {
	readonly name: string;
	readonly missing?: string | undefined;
	start?(): Promise<void>;
	stop?(): Promise<void>;
	/** An entry of the configuration, for a place that has one; else options of the runtime. */
	entry?(): Record<string, unknown>;
	options?(work: string): RuntimeOptions;
	/** Returns a directory there that exists. */
	tmp(): string;
	/** For what is left in a home after a case. */
	end?(home: string): void;
}

const MB = 1024 * 1024;
const SECRET = `AKIA${"ABCDEFGHIJKLMNOP"}`;
const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export function taskFilesSuite(place: FilesPlace): void {
	describe.skipIf(place.missing)(`task.files at ${place.name}${place.missing ? ` (${place.missing})` : ""}`, () => {
		beforeAll(() => place.start?.());
		afterAll(() => place.stop?.());

		/** A task whose directory is new and empty. */
		const open = async (): Promise<Task> => {
			const home = tempDir("home");
			const entry = place.entry?.();
			if (entry) configure(entry);
			const runtime = await openRuntime({ home, task: "t", warm: 0, ...(entry ? { place: "box" } : place.options?.(tempDir("work"))) });
			const task = runtime.task("t");
			atEnd(async () => {
				await runtime.endTask("t");
				await endAll(agentOf(runtime));
				place.end?.(home);
			});
			const dir = `${place.tmp()}/w-$$`;
			await task.terminal({ command: `mkdir -p ${dir} && cd ${dir}` });
			return task;
		};

		test("bytes, folders, links and hidden names arrive as they are, both ways", async () => {
			const task = await open();
			const big = randomBytes(5 * MB + 17);
			async function* pieces() {
				for (let at = 0; at < big.length; at += MB) yield big.subarray(at, at + MB);
			}
			const written = await task.files.write("deep/er/big", pieces());
			expect(written).toMatchObject({ created: true, bytes: big.length, sha256: sha(big), path: expect.stringMatching(/^\/.*\/w-\d+\/deep\/er\/big$/) });
			expect(sha(await task.files.read("deep/er/big"))).toBe(sha(big));
			const hash = createHash("sha256");
			for await (const piece of task.files.stream("deep/er/big")) hash.update(piece);
			expect(hash.digest("hex")).toBe(sha(big));
			expect((await task.terminal({ command: "sha256sum < deep/er/big" })).output).toContain(sha(big));

			expect(await task.files.write("empty", "")).toMatchObject({ bytes: 0, created: true });
			expect(await task.files.read("empty")).toEqual(Buffer.alloc(0));
			expect(await task.files.write("new\nline", `key ${SECRET}\n`, { mode: 0o640 })).toMatchObject({ created: true });
			expect((await task.files.read("new\nline")).toString()).toBe(`key ${SECRET}\n`); // not masked
			expect(
				(await task.terminal({ command: "cat new*; stat -c %a new*; ln -s 'new\nline' link; mkdir -m 700 .hidden; echo x > .hidden/.f" })).output,
			).not.toContain(SECRET);
			expect((await task.files.read("link")).toString()).toContain(SECRET);
			expect(await task.files.write("link", "through it\n")).toMatchObject({ created: false, path: expect.stringMatching(/new\nline$/) });
			expect(await task.files.list(".")).toEqual([
				{ name: ".hidden", kind: "directory", size: 0, mode: 0o700 },
				{ name: "deep", kind: "directory", size: 0, mode: expect.any(Number) },
				{ name: "empty", kind: "file", size: 0, mode: expect.any(Number) },
				{ name: "link", kind: "link", size: 0, mode: null, target: "new\nline" },
				{ name: "new\nline", kind: "file", size: 11, mode: 0o640 },
			]);
			expect((await task.files.list(".", { recursive: true })).map(({ name }) => name)).toEqual([
				".hidden",
				".hidden/.f",
				"deep",
				"deep/er",
				"deep/er/big",
				"empty",
				"link",
				"new\nline",
			]);

			const tree = hostileTree();
			const told: number[] = [];
			const [up, back] = [await task.files.copyIn(tree, "tree", { progress: ({ bytes }) => told.push(bytes) }), path.join(tempDir(), "back")];
			expect(up).toMatchObject({ kind: "directory", created: true, skipped: [] });
			expect(told.length).toBeGreaterThan(0);
			expect(await task.files.copyOut("tree", back)).toMatchObject({ kind: "directory", files: up.files, links: up.links, bytes: up.bytes });
			expect(picture(back)).toEqual(picture(tree));
			expect(await task.files.copyOut("deep/er/big", `${back}/`)).toMatchObject({ kind: "file", sha256: sha(big), path: path.join(back, "big") });
			expect(task.isBusy).toBe(false);
		});

		test("what cannot be done is said in words with a code, and nothing is changed", async () => {
			const task = await open();
			await task.terminal({ command: "mkdir dir && echo old > file && ln -s nowhere broken && ln -s loop loop && mkfifo pipe" });
			const { files } = task;
			const host = tempDir("host");
			fs.writeFileSync(path.join(host, "f"), "x");
			async function* wrong() {
				yield "text" as unknown as Uint8Array;
			}
			async function* fails() {
				yield Buffer.from("some");
				throw new Error("the source broke");
			}
			const cases: [string, () => Promise<unknown>, RegExp][] = [
				["read what is missing", () => files.read("nothing"), /^NOT_FOUND: there is no \/.*nothing$/],
				["stream what is missing", () => drained(files.stream("nothing")), /^NOT_FOUND: there is no/],
				["read a broken link", () => files.read("broken"), /^NOT_FOUND: there is no/],
				["read a link to itself", () => files.read("loop"), /^(INVALID|NOT_FOUND): /],
				["read a directory", () => files.read("dir"), /^INVALID: \/.*dir is a directory/],
				["read a pipe", () => files.read("pipe"), /^INVALID: .*a device, a pipe or a socket/],
				["read below a file", () => files.read("file/below"), /^NOT_FOUND: there is no/],
				["write to a directory", () => files.write("dir", "x"), /^INVALID: \/.*dir is a directory/],
				["write to a name that ends in a slash", () => files.write("new/", "x"), /^INVALID: new\/ is a directory/],
				["write below a file", () => files.write("file/below", "x"), /^(INVALID|NOT_FOUND): /],
				["write pieces that are no bytes", () => files.write("file", wrong()), /^INVALID: .*a piece of the content is not bytes; .*file is as it was/],
				["write from a source that fails", () => files.write("file", fails()), /^INVALID: .*could not be read to its end \(the source broke\)/],
				["write nothing", () => files.write("file", undefined as unknown as string), /^INVALID: .*must be a string, bytes, or an async iterable/],
				["a mode that cannot be one", () => files.write("file", "x", { mode: 0o20000 }), /^INVALID: task.files.write: mode is 8192, but must be at most 4095/],
				[
					"an unknown option",
					() => files.read("file", { encoding: "utf8" } as object),
					/^INVALID: task.files.read: there is no key "encoding"; there are signal/,
				],
				["no path", () => files.read(""), /^INVALID: task.files.read: a path must be a string/],
				["a NUL in a path", () => files.read("a\0b"), /^INVALID: task.files.read: a path must be/],
				["list a file", () => files.list("file"), /^INVALID: \/.*file is not a directory/],
				["list what is missing", () => files.list("nothing"), /^NOT_FOUND: there is no/],
				["copy in what is missing", () => files.copyIn(path.join(host, "nothing"), "new"), /^NOT_FOUND: there is no .*nothing; nothing was copied/],
				["copy in below a file", () => files.copyIn(path.join(host, "f"), "file/x"), /^(INVALID|NOT_FOUND): /],
				["copy out what is missing", () => files.copyOut("nothing", host), /^NOT_FOUND: there is no .*nothing; nothing was copied/],
				["copy out a pipe", () => files.copyOut("pipe", host), /^INVALID: .*pipe is a device, a pipe or a socket/],
			];
			for (const [name, act, words] of cases) expect([name, await saidBy(act)]).toEqual([name, expect.stringMatching(words)]);
			expect((await files.list(".")).map(({ name }) => name)).toEqual(["broken", "dir", "file", "loop", "pipe"]);
			expect((await files.read("file")).toString()).toBe("old\n");
			expect(fs.readdirSync(host)).toEqual(["f"]);
		});

		test("a signal, and the interruption of the task, end it; what was to be written is as it was", async () => {
			const task = await open();
			await task.files.write("file", "old");
			await task.files.write("long", randomBytes(5 * MB));
			const begun = { endless: false, silent: false };
			async function* endless() {
				for (let first = true; ; first = false) {
					yield randomBytes(MB);
					if (!first) begun.endless = true;
					await sleep(20);
				}
			}
			async function* silent(): AsyncGenerator<Uint8Array> {
				yield Buffer.from("first");
				begun.silent = true;
				await new Promise(() => {});
			}
			const stop = new AbortController();
			const one = saidBy(() => task.files.write("file", endless(), { signal: stop.signal }));
			const two = saidBy(() => task.files.write("other", silent()));
			const pieces = task.files.stream("long");
			await pieces.next();
			await until("both are being written", () => begun.endless && begun.silent);
			expect(task.isBusy).toBe(true);
			stop.abort();
			expect(await one).toMatch(/^ABORTED: interrupted/);
			const interrupted = task.interrupt();
			expect(await saidBy(() => pieces.next())).toMatch(/^ABORTED: interrupted/);
			expect(await interrupted).toBe(2);
			expect(await two).toMatch(/^ABORTED: interrupted/);
			expect(await saidBy(() => task.files.read("file", { signal: AbortSignal.abort() }))).toMatch(/^ABORTED: /);
			expect((await task.files.read("file")).toString()).toBe("old");
			expect((await task.terminal({ command: "ls -A" })).output).toBe("file\nlong\n");
			await task.end();
			expect(await saidBy(() => task.files.read("file"))).toMatch(/^ENDED: the task "t" was ended/);
		});
	});
}

/** On the place that the configuration calls `box`, until the end of the test. */
function configure(entry: Record<string, unknown>): void {
	const config = tempDir("config");
	fs.mkdirSync(path.join(config, "holdfast"), { mode: 0o700 });
	fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places: { box: entry } }), { mode: 0o600 });
	const before = process.env.XDG_CONFIG_HOME;
	process.env.XDG_CONFIG_HOME = config;
	atEnd(() => {
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
	});
}

async function drained(pieces: AsyncIterable<unknown>): Promise<void> {
	for await (const _ of pieces);
}

export async function saidBy(act: () => Promise<unknown>): Promise<string> {
	try {
		return `it worked: ${JSON.stringify(await act())?.slice(0, 200)}`;
	} catch (error) {
		return error instanceof HoldfastError ? `${error.code}: ${error.message}` : String(error);
	}
}
