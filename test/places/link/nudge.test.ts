/** A link on a stream that holds small messages back until something goes the other way: src/places/link/nudge.ts. */
import fs from "node:fs";
import path from "node:path";
import { PassThrough, Transform } from "node:stream";
import { expect, test } from "vitest";
import { BOOT, Link } from "../../../src/places/link/link.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { ShellHost } from "../../support/shell-host.js";

const PIECE = 1_024;

type Side = "near" | "remote";

/** As TCP with Nagle's algorithm whose acknowledgements only data carries: after a piece, a side sends no more until the other has sent something. */
function delaying() {
	const ends = { near: new PassThrough(), remote: new PassThrough() };
	const held: Record<Side, Buffer[]> = { near: [], remote: [] };
	const waits: Record<Side, boolean> = { near: false, remote: false };
	let on = false;
	const send = (side: Side, pieces: readonly Buffer[]) => {
		ends[side].write(Buffer.concat(pieces));
		waits[side] = on;
		const other = side === "near" ? "remote" : "near";
		waits[other] = false;
		if (held[other].length > 0) send(other, held[other].splice(0));
	};
	const from = (side: Side) =>
		new Transform({
			transform(chunk: Buffer, _, done) {
				for (let at = 0; at < chunk.length; at += PIECE) {
					const piece = chunk.subarray(at, at + PIECE);
					if (waits[side]) held[side].push(piece);
					else send(side, [piece]);
				}
				done();
			},
		});
	/** From now on. */
	const delay = () => {
		on = true;
	};
	return { ends, near: from("near"), remote: from("remote"), delay };
}

test("a long request and a long answer arrive whole, and an answer behind another does", async () => {
	const inner = await new ShellHost({ shell: "dash" }).open(BOOT);
	const line = delaying();
	line.ends.near.pipe(inner.input);
	line.near.on("finish", () => inner.input.end());
	inner.output.pipe(line.remote);
	const link = await Link.open({ ...inner, input: line.near, output: line.ends.remote, delays: true, hold: undefined as never }, { dir: "", name: "box" });
	atEnd(() => link.close());
	line.delay();
	let sent = "";
	line.ends.near.on("data", (bytes: Buffer) => {
		sent += bytes.toString("latin1");
	});
	const long = "x".repeat(5_000);
	expect((await link.run(`printf %s ${long}`)).output.toString()).toBe(long);
	const [first, second] = await Promise.all([link.run("echo first"), link.run("sleep 0.2; echo second")]);
	expect([first.output.toString(), second.output.toString()]).toEqual(["first\n", "second\n"]);
	expect(sent).not.toMatch(/^\d+ n /m); // a ping, which would have brought what was held back
});

test("a nudge that crosses news is answered, so that the next request does not wait behind it; any other is not", async () => {
	const inner = await new ShellHost({ shell: "dash" }).open(BOOT);
	const link = await Link.open({ ...inner, delays: true, hold: undefined as never }, { dir: "", name: "box" });
	atEnd(() => link.close());
	let nudges = 0;
	inner.output.on("data", (bytes: Buffer) => {
		nudges += bytes.toString("latin1").split("=0 0 0").length - 1;
	});
	const file = path.join(tempDir(), "log");
	fs.writeFileSync(file, "a");
	const news = link.follow(file, 1, 100);
	await until("it has said that it listens", () => nudges === 1);
	fs.appendFileSync(file, "b");
	expect((await news).bytes.toString()).toBe("b");
	inner.input.write("0 c 0\n");
	await until("the nudge is answered", () => nudges === 2);
	inner.input.write("0 c 0\n");
	await link.read(file, 0, 1);
	expect(nudges).toBe(2);
});
