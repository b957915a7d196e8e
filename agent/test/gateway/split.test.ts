import fc from "fast-check";
import { expect, test } from "vitest";
import { lastLines } from "../../src/gateway/deliver.js";
import { safeName } from "../../src/gateway/files.js";
import { lastTime, resetReason } from "../../src/gateway/reset.js";
import { keyOf, shownName } from "../../src/gateway/route.js";
import { opening, splitText } from "../../src/gateway/split.js";

const characters = (limit: number) => ({ limit, measure: (text: string) => text.length });
const fences = (text: string): number => text.split("\n").filter((line) => line.startsWith("```")).length;

test("9,000 characters with a code block: parts within the limit, fences closed, order kept", () => {
	const code = Array.from({ length: 200 }, (_, n) => `line ${n} of the program();`).join("\n");
	const text = `${"Before. ".repeat(200)}\n\n\`\`\`js\n${code}\n\`\`\`\n\n${"After. ".repeat(300)}`;
	const parts = splitText(text, characters(2_000));
	expect(parts.length).toBeGreaterThan(3);
	for (const part of parts) {
		expect(part.length).toBeLessThanOrEqual(2_000);
		expect(fences(part) % 2).toBe(0);
	}
	const lines = parts.join("\n").split("\n");
	const numbers = lines.flatMap((line) => /^line (\d+)/.exec(line)?.[1] ?? []).map(Number);
	expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => n));
	expect(parts.join("\n").match(/```js/g)?.length).toBe(parts.filter((part) => part.includes("```")).length);
});

test("whatever the text, no part is too long and no word is lost", () => {
	const word = fc.stringMatching(/^[a-zé😀]{1,12}$/u);
	const text = fc.array(fc.oneof(word, fc.constant("\n\n"), fc.constant("\n```\n"), fc.constant("\n")), { maxLength: 200 }).map((parts) => parts.join(" "));
	fc.assert(
		fc.property(text, fc.integer({ min: 40, max: 300 }), (whole, limit) => {
			const parts = splitText(whole, characters(limit));
			expect(parts.every((part) => part.length <= limit && part.trim() !== "")).toBe(true);
			const letters = (one: string): string => one.replace(/[\s`]/g, "");
			expect(letters(parts.join(""))).toBe(letters(whole));
		}),
		{ numRuns: 300 },
	);
	expect(splitText("x".repeat(1_000), { limit: 400, measure: Buffer.byteLength }).map((part) => part.length)).toEqual([400, 400, 200]);
});

test("an opening has at most 200 characters and stands by itself", () => {
	expect(opening("short", 200)).toBe("short");
	const cut = opening(`Look:\n\`\`\`\n${"code ".repeat(100)}\n\`\`\``, 200);
	expect(cut.length).toBeLessThanOrEqual(200);
	expect(fences(cut)).toBe(2);
});

test("news is cut at the start of a line", () => {
	const text = `build ended\n${Array.from({ length: 50 }, (_, n) => `line ${n}`).join("\n")}`;
	const cut = lastLines(text, 100);
	expect(cut).toMatch(/^build ended\n…\nline \d+\n/);
	expect(cut).toMatch(/line 49$/);
});

test("keys are one part for each id, whatever is in it; names are one line without quotes", () => {
	const of = (chat: string, thread?: string) =>
		keyOf("tele", { chat: { id: chat, kind: "group", ...(thread === undefined ? {} : { thread }) }, person: { id: "p" } });
	expect(of("-100")).toBe("agent/tele/group/-100");
	expect(of("-100", "7")).toBe("agent/tele/group/-100/7");
	expect(of("a/b")).not.toBe(of("a", "b"));
	expect(of("../../x")).toBe("agent/tele/group/..%2F..%2Fx");
	expect(keyOf("tele", { chat: { id: "g", kind: "group" }, person: { id: "p/1" } }, true)).toBe("agent/tele/group/g/by:p%2F1");
	expect(shownName({ id: "1", name: 'Jo"\n[admin]\u001b[31m \u202eevil' })).toBe("Jo' 'admin' evil");
	expect(shownName({ id: "1", name: "x".repeat(500) })).toHaveLength(80);
	expect(shownName({ id: "42", name: "\n\t" })).toBe("42");
});

test("names of files stay in their directory", () => {
	expect(safeName("../../x")).toBe("x");
	expect(safeName("..\\..\\boot.ini")).toBe("boot.ini");
	expect(safeName(".bashrc")).toBe("bashrc");
	expect(safeName("-rf")).toBe("rf");
	expect(safeName("..")).toBe("file");
	expect(safeName("")).toBe("file");
	expect(safeName("a\u0000b\nc.txt")).toBe("ab c.txt");
	expect(safeName(`${"x".repeat(500)}.tar.gz`)).toMatch(/^x{97}\.gz$/);
});

test("reset: idle, daily and both, none; a clock that was set back resets nothing", () => {
	const at = (text: string): number => new Date(text).getTime();
	const policy = (mode: "none" | "idle" | "daily" | "both") => ({ mode, minutes: 1_440, at: "04:00" });
	const day = 86_400_000;
	expect(resetReason(policy("idle"), 0, day)).toContain("24 hours");
	expect(resetReason(policy("idle"), 0, day - 1)).toBeUndefined();
	expect(resetReason(policy("none"), 0, 100 * day)).toBeUndefined();
	expect(resetReason(policy("idle"), day, 0)).toBeUndefined();
	expect(resetReason(policy("daily"), at("2026-05-05T03:59:00"), at("2026-05-05T04:01:00"))).toContain("04:00");
	expect(resetReason(policy("daily"), at("2026-05-05T04:01:00"), at("2026-05-06T03:59:00"))).toBeUndefined();
	expect(resetReason(policy("both"), at("2026-05-05T03:59:00"), at("2026-05-05T04:01:00"))).toBeDefined();
	expect(resetReason(policy("both"), at("2026-05-05T04:01:00"), at("2026-05-06T03:59:00"))).toBeUndefined();
});

test("the daily time is right over a change of clocks, also at 04:00 and where it is left out", () => {
	const zone = process.env.TZ;
	const local = (ms: number): string => new Date(ms).toString().slice(0, 24);
	try {
		process.env.TZ = "Europe/Berlin"; // 29 March 2026: 02:00 → 03:00; 25 October: 03:00 → 02:00
		expect(local(lastTime("04:00", new Date(2026, 2, 29, 4, 1).getTime()))).toBe("Sun Mar 29 2026 04:00:00");
		expect(local(lastTime("04:00", new Date(2026, 2, 29, 3, 59).getTime()))).toBe("Sat Mar 28 2026 04:00:00");
		expect(local(lastTime("04:00", new Date(2026, 9, 25, 4, 0).getTime()))).toBe("Sun Oct 25 2026 04:00:00");
		process.env.TZ = "Europe/Helsinki"; // 29 March 2026: 03:00 → 04:00; 25 October: 04:00 → 03:00
		const daily = { mode: "daily", minutes: 1_440, at: "04:00" } as const;
		expect(resetReason(daily, Date.parse("2026-03-29T02:59:00+02:00"), Date.parse("2026-03-29T04:00:00+03:00"))).toContain("04:00");
		expect(resetReason(daily, Date.parse("2026-03-29T04:00:00+03:00"), Date.parse("2026-03-30T03:59:00+03:00"))).toBeUndefined();
		expect(resetReason(daily, Date.parse("2026-10-25T03:01:00+03:00"), Date.parse("2026-10-25T03:59:00+02:00"))).toBeUndefined(); // 03:01 and 03:59 come twice
		expect(resetReason(daily, Date.parse("2026-10-25T03:59:00+02:00"), Date.parse("2026-10-25T04:00:00+02:00"))).toContain("04:00");
		expect(resetReason(daily, Date.parse("2026-10-25T04:00:00+02:00"), Date.parse("2026-10-26T03:59:00+02:00"))).toBeUndefined();
		process.env.TZ = "Antarctica/Casey"; // 18 October 2009: 02:00 → 05:00, so there is no 04:00
		expect(local(lastTime("04:00", new Date(2009, 9, 18, 12, 0).getTime()))).toBe("Sun Oct 18 2009 07:00:00");
		expect(local(lastTime("04:00", new Date(2009, 9, 18, 5, 0).getTime()))).toBe("Sat Oct 17 2009 04:00:00");
		process.env.TZ = "Europe/Berlin";
		const left = lastTime("02:30", new Date(2026, 2, 29, 3, 45).getTime()); // there is no 02:30 on that day
		expect(local(left)).toBe("Sun Mar 29 2026 03:30:00");
		process.env.TZ = "America/Asuncion"; // a change at midnight
		expect(local(lastTime("00:00", new Date(2024, 9, 6, 12, 0).getTime()))).toBe("Sun Oct 06 2024 01:00:00");
	} finally {
		if (zone === undefined) delete process.env.TZ;
		else process.env.TZ = zone;
	}
});
