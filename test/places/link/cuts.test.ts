/** Links that break at any moment, with much under way: nothing is mixed up, lost or left behind. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { BLANK_RECORD } from "../../../src/keeper/layout.js";
import { Connection } from "../../../src/places/link/connection.js";
import type { Link } from "../../../src/places/link/link.js";
import { atEnd, tempDir } from "../../support/home.js";
import { type Shell, ShellHost } from "../../support/shell-host.js";

const KINDS: readonly { shell: Shell; perl: boolean; requests: number }[] = [
	{ shell: "dash", perl: true, requests: 3000 },
	{ shell: "dash", perl: false, requests: 600 },
	{ shell: "bash", perl: false, requests: 300 },
	{ shell: "busybox", perl: false, requests: 600 },
];

/** The same sequence each time. */
function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

describe.each(KINDS)("$shell, perl: $perl", ({ shell, perl, requests }) => {
	function connect(): { host: ShellHost; connection: Connection } {
		const host = new ShellHost({ shell });
		const connection = new Connection(host, { dir: "", name: "box", perl });
		atEnd(() => connection.close());
		return { host, connection };
	}

	const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) >> 3));
	/** One of many kinds of request, each with an answer that only it can have. */
	async function one(link: Link, file: string, number: number): Promise<void> {
		const offset = (number * 37) % 90_000;
		const length = 1 + ((number * 101) % 9_000);
		switch (number % 6) {
			case 0:
				return await link.ping();
			case 1:
				return expect((await link.read(file, offset, length)).bytes.equals(bytes.subarray(offset, offset + length))).toBe(true);
			case 2:
				return expect(
					await link.look([
						{ ask: "link", path: "/proc/self/cwd" },
						{ ask: "content", path: `/missing/${number}` },
					]),
				).toEqual([expect.any(Buffer), undefined]);
			case 3:
				return expect(await link.run(`printf '%s\\0' ${number}; exit ${number % 200}`)).toMatchObject({
					output: Buffer.from(`${number}\0`),
					status: number % 200,
				});
			case 4:
				return await link.write(`${file}.${number}`, 0, bytes.subarray(0, length));
			default:
				return expect((await link.follow(file, offset, length)).bytes.equals(bytes.subarray(offset, offset + length))).toBe(true);
		}
	}
	const written = (file: string, number: number) => fs.readFileSync(`${file}.${number}`).equals(bytes.subarray(0, 1 + ((number * 101) % 9_000)));

	test("many requests of all kinds at once are answered each with its own", async () => {
		const { connection } = connect();
		const file = path.join(tempDir(), "file");
		fs.writeFileSync(file, bytes);
		await connection.use((link) => inFlight(64, requests, (number) => one(link, file, number)), { again: false });
		for (let number = 4; number < requests; number += 6) expect(written(file, number)).toBe(true);
		expect(connection.link?.pending).toBe(0);
	});

	test("cut again and again, every request is answered in the end, and rightly", async () => {
		const { host, connection } = connect();
		const file = path.join(tempDir(), "file");
		fs.writeFileSync(file, bytes);
		const chance = random(7);
		await connection.use((link) => link.ping(), { again: true }); // what does not work the first time is not tried again
		let asked = 0;
		await inFlight(16, requests / 3, async (number) => {
			if (++asked % Math.ceil(requests / 24) === 0) setTimeout(() => host.streams.at(-1)?.close(), chance() * 20);
			await connection.use((link) => one(link, file, number), { again: true });
		});
		for (let number = 4; number < requests / 3; number += 6) expect(written(file, number)).toBe(true);
		expect(host.streams.length).toBeGreaterThan(3);
	});

	test("a log is followed through cuts to its exit, byte for byte", async () => {
		const { host, connection } = connect();
		const dir = path.join(tempDir(), "proc_1");
		fs.mkdirSync(dir);
		for (const name of ["state", "exit"]) fs.writeFileSync(path.join(dir, name), BLANK_RECORD);
		const chance = random(11);
		await connection.use((link) => link.ping(), { again: true });
		const parts = Array.from({ length: 120 }, (_, index) => bytes.subarray(index * 13, index * 13 + Math.floor(chance() * 5_000)));
		const writes = (async () => {
			let offset = 0;
			for (const [index, part] of parts.entries()) {
				// a new segment now and then, as the collector does it
				const at = index - (index % 40);
				const start = parts.slice(0, at).reduce((sum, each) => sum + each.length, 0);
				fs.appendFileSync(path.join(dir, `out.${String(start).padStart(15, "0")}`), part);
				offset += part.length;
				if (index % 20 === 10) host.streams.at(-1)?.close();
				await new Promise((resolve) => setTimeout(resolve, 5));
			}
			fs.writeFileSync(path.join(dir, "state"), `${`closed ${offset}`.padEnd(63)}\n`, { flag: "r+" });
			fs.writeFileSync(path.join(dir, "exit"), `${"exit 0 -".padEnd(63)}\n`, { flag: "r+" });
		})();
		const got: Buffer[] = [];
		let offset = 0;
		let records: Record<string, string> = { state: "", exit: "" };
		for (let over = false; !over; ) {
			const news = await connection.use((link) => link.watch(dir, { offset, records, max: 10_000 }), { again: true });
			if (!news) throw new Error("the directory has gone");
			expect(news.offset).toBe(offset);
			got.push(news.bytes);
			offset += news.bytes.length;
			records = Object.fromEntries(Object.entries(news.records).map(([name, { text }]) => [name, text]));
			over = records.exit !== "" && offset === news.end;
		}
		await writes;
		expect(Buffer.concat(got).equals(Buffer.concat(parts))).toBe(true);
		expect(records).toEqual({ state: `closed ${offset}`, exit: "exit 0 -" });
	});
});

async function inFlight(most: number, count: number, work: (number: number) => Promise<void>): Promise<void> {
	let next = 0;
	await Promise.all(
		Array.from({ length: most }, async () => {
			while (next < count) await work(next++);
		}),
	);
}
