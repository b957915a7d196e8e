import { expect, test } from "vitest";
import type { Blocked } from "../../src/screen/blocked.js";
import { decide } from "../../src/screen/verdict.js";
import { conclude } from "../../src/screen/waiting.js";

const LINE = { canonical: true, echo: true };
const PASSWORD = { canonical: true, echo: false };
const RAW = { canonical: false, echo: false };
const who = { comm: "prog", pid: 7, state: "S" };

const reading: Blocked = { kind: "reading", how: "read", tid: 7 };
const watching = (given: Partial<Extract<Blocked, { kind: "watching" }>> = {}): Blocked => ({
	...{ kind: "watching", how: "poll", tid: 7, sure: true, timed: false, sockets: false },
	...given,
});
const hidden: Blocked = { kind: "hidden", how: "asleep, and the kernel does not say in what" };

test.each([
	["a read of a terminal that takes lines", reading, LINE, "line"],
	["a read without echo", reading, PASSWORD, "password"],
	["a read in raw mode", reading, RAW, "keys"],
	["a read of a terminal whose modes cannot be read", reading, undefined, "line"],
	["a poll of the terminal in raw mode", watching(), RAW, "keys"],
	["a poll of the terminal that takes lines", watching(), LINE, "line"],
	["a poll of the terminal and sockets, which is a server", watching({ sockets: true }), LINE, "no"],
	["the same in raw mode, which is a server with a menu", watching({ sockets: true }), RAW, "keys"],
	["a poll of who knows what, in raw mode", watching({ sure: false }), RAW, "keys"],
	["a poll of who knows what, without echo", watching({ sure: false }), PASSWORD, "password"],
	["a poll of who knows what, in the usual mode", watching({ sure: false }), LINE, "unknown"],
	["a poll, modes unreadable", watching(), undefined, "unknown"],
	["another user's process, without echo", hidden, PASSWORD, "password"],
	["another user's process, in raw mode", hidden, RAW, "keys"],
	["another user's process, in the usual mode", hidden, LINE, "unknown"],
	["another user's process, modes unreadable", hidden, undefined, "unknown"],
	["anything else", { kind: "busy" } as Blocked, RAW, "no"],
])("%s: %#", (_name, blocked, modes, expected) => {
	const verdict = decide(blocked, who, modes);
	expect(verdict.kind === "waiting" ? verdict.for : verdict.kind).toBe(expected);
	if (verdict.kind === "waiting") expect(verdict.evidence).toMatch(/^prog \(pid 7\) is .*;/);
	if (verdict.kind === "unknown") expect(verdict.why).toMatch(/^prog \(pid 7\) /);
});

test("what restarts a server and listens to its terminal meanwhile is not asking; until the server is there, silence decides", () => {
	expect(decide(watching(), who, LINE, "serving")).toEqual({ kind: "no" });
	expect(decide(watching(), who, LINE, "working")).toMatchObject({ kind: "unknown", why: expect.stringContaining("has started something") });
	expect(decide(watching(), who, PASSWORD, "working")).toMatchObject({ kind: "waiting", for: "password" });
	for (const beside of ["serving", "working"] as const) expect(decide(watching(), who, RAW, beside)).toMatchObject({ kind: "waiting", for: "keys" });
});

test("ssh and its like pass keys on in raw mode, and that says nothing; their own questions do", () => {
	const ssh = { comm: "ssh", pid: 7, state: "S" };
	const asleep: Blocked = { kind: "busy" }; // in what is not for the terminal: of tmux it is another process that reads it
	for (const blocked of [reading, watching(), watching({ sure: false }), hidden, asleep]) expect(decide(blocked, ssh, RAW)).toMatchObject({ kind: "unknown" });
	expect(decide(asleep, ssh, LINE)).toEqual({ kind: "no" });
	expect(decide({ kind: "busy" }, { ...ssh, state: "R" }, RAW)).toEqual({ kind: "no" });
	expect(decide(reading, ssh, PASSWORD)).toMatchObject({ kind: "waiting", for: "password" });
});

test("a program that polls its terminal counts as waiting when it is quiet", () => {
	const spinner = decide(watching({ timed: true }), who, RAW);
	expect(conclude(spinner, 80, 5_000)).toEqual({ waiting: false });
	expect(conclude(spinner, 200, 5_000)).toMatchObject({ waiting: true, waiting_for: "keys" });
});

test("where the kernel does not say, silence does, and the evidence tells both", () => {
	const verdict = decide(hidden, who, LINE);
	expect(conclude(verdict, 4_999, 5_000)).toEqual({ waiting: false });
	expect(conclude(verdict, 5_000, 5_000)).toEqual({
		waiting: true,
		waiting_for: "idle",
		waiting_evidence: "nothing printed for 5 s; prog (pid 7) is asleep, and the kernel does not say in what; the terminal is in its usual mode",
	});
	expect(conclude({ kind: "no" }, 1e9, 5_000)).toEqual({ waiting: false });
});
