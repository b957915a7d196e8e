import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { Claim } from "../../src/base/index.js";
import { tempDir } from "../support/dirs.js";
import { type Program, startProgram } from "../support/program.js";
import { smallDisk } from "../support/small-disk.js";

const CLAIMER = path.join(import.meta.dirname, "fixtures/claimer.mjs");

async function claimer(dir: string, alone = ""): Promise<Program> {
	const program = startProgram(CLAIMER, [dir, alone]);
	expect(await program.line()).toBe("ready");
	return program;
}

async function told(program: Program, text: string): Promise<string> {
	program.say(text);
	return program.line();
}

it("is held by one program; another is told by which", async () => {
	const dir = path.join(tempDir(), "claim");
	const other = await claimer(dir);
	expect(await told(other, "take")).toBe("mine");
	expect(Claim.take(dir, "test")).toMatchObject({ pid: other.pid, what: "claimer" });
	expect(await told(other, "release")).toBe("free");
	const mine = Claim.take(dir, "test");
	expect(mine).toBeInstanceOf(Claim);
	expect(await told(other, "take")).toBe(`of ${process.pid}`);
	(mine as Claim).release();
	(mine as Claim).release();
	expect((mine as Claim).held()).toBe(false);
	expect(await told(other, "take")).toBe("mine");
});

it("is held once within a program, too", () => {
	const dir = path.join(tempDir(), "claim");
	using first = Claim.take(dir, "one") as Claim;
	expect(first.held()).toBe(true);
	expect(Claim.take(dir, "two")).toMatchObject({ pid: process.pid, what: "one" });
});

it("of a killed program is taken over by exactly one of those who try", async () => {
	const dir = path.join(tempDir(), "claim");
	const holder = await claimer(dir);
	expect(await told(holder, "take")).toBe("mine");
	const heirs = await Promise.all(Array.from({ length: 4 }, () => claimer(dir)));
	await holder.kill();
	const answers = await Promise.all(heirs.map((heir) => told(heir, "take")));
	expect(answers.filter((answer) => answer === "mine")).toHaveLength(1);
	const heir = heirs[answers.indexOf("mine")] as Program;
	expect(new Set(answers)).toEqual(new Set(["mine", `of ${heir.pid}`]));
	await heir.kill();
	expect(Claim.take(dir, "test")).toBeInstanceOf(Claim);
});

it("is never held by two at once, however often many programs take it and let go", async () => {
	const dir = path.join(tempDir(), "claim");
	const alone = path.join(tempDir(), "alone");
	const programs = await Promise.all(Array.from({ length: 4 }, () => claimer(dir, alone)));
	const answers = await Promise.all(programs.map((program) => told(program, "race 150")));
	expect(answers).toEqual(Array(4).fill("alone each time"));
	expect(fs.existsSync(alone)).toBe(false);
	expect(fs.readdirSync(dir)).toHaveLength(1);
});

it("a program whose pid was given to another is not mistaken for it", () => {
	const dir = path.join(tempDir(), "claim");
	const claim = Claim.take(dir, "test") as Claim;
	const [name = ""] = fs.readdirSync(dir);
	const [pid, , host, ...rest] = fs.readlinkSync(path.join(dir, name)).split(" ");
	claim.release();
	fs.rmSync(path.join(dir, `${name}.free`));
	fs.symlinkSync([pid, "1", host, ...rest].join(" "), path.join(dir, name));
	expect(Claim.take(dir, "test")).toBeInstanceOf(Claim);
});

it("of a program on another host is believed until it has been silent for ten minutes", () => {
	const dir = path.join(tempDir(), "claim");
	fs.mkdirSync(dir);
	fs.symlinkSync("12 34 elsewhere 000000000000 gateway", path.join(dir, "7"));
	expect(Claim.take(dir, "test")).toMatchObject({ what: "gateway", host: "elsewhere" });
	const long = new Date(Date.now() - 11 * 60_000);
	fs.lutimesSync(path.join(dir, "7"), long, long);
	expect(Claim.take(dir, "test")).toBeInstanceOf(Claim);
});

it("one that was taken over meanwhile is known to be lost, and letting go of it does not touch the new one", () => {
	const dir = path.join(tempDir(), "claim");
	const lost = Claim.take(dir, "test") as Claim;
	const [name = ""] = fs.readdirSync(dir);
	fs.symlinkSync("12 34 elsewhere 000000000000 gateway", path.join(dir, String(Number(name) + 1)));
	fs.rmSync(path.join(dir, name));
	expect(lost.held()).toBe(false);
	lost.release();
	expect(Claim.holder(dir)).toMatchObject({ what: "gateway" });
});

it("a taker that was stopped between its look and its link, while others came and went, gives up", () => {
	const dir = path.join(tempDir(), "claim");
	fs.mkdirSync(dir);
	// What such a taker leaves for a moment: a number that was let go of already is there again.
	fs.symlinkSync("1 1 elsewhere 000000000000 late", path.join(dir, "3"));
	fs.symlinkSync("1 1 elsewhere 000000000000 early", path.join(dir, "3.free"));
	expect(Claim.take(dir, "test")).toMatchObject({ what: "late" });
	fs.rmSync(path.join(dir, "3")); // it gave up
	const claim = Claim.take(dir, "test") as Claim;
	expect(claim.held()).toBe(true);
	expect(fs.readdirSync(dir)).toEqual(["4"]);
});

it("waits until it is free, or until the caller gives up", async () => {
	const dir = path.join(tempDir(), "claim");
	const first = Claim.take(dir, "test") as Claim;
	const stop = new AbortController();
	const waits = Claim.wait(dir, "second", stop.signal);
	const gives = expect(Claim.wait(dir, "third", AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
	first.release();
	(await waits).release();
	await gives;
});

it("can be taken and let go of on a full disk", (context) => {
	const disk = smallDisk(context);
	const dir = path.join(disk.dir, "claim");
	(Claim.take(dir, "test") as Claim).release();
	disk.fill();
	const claim = Claim.take(dir, "test") as Claim;
	expect(claim.held()).toBe(true);
	claim.release();
	expect(Claim.holder(dir)).toBeUndefined();
	disk.empty();
});
