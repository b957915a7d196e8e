/** Times and sizes are written the same way for every option. */
import { expect, test } from "vitest";
import { processLimitsSchema } from "../../src/base/limits.js";
import { parseAge, parseSeconds, parseSize } from "../../src/base/quantity.js";
import { ageOption, quotaOption, secondsOption, sizeOption } from "../../src/doors/cli/quantity.js";
import { argumentsOf } from "../../src/doors/cli/tool-options.js";
import { processInput, terminalInput } from "../../src/tools/input.js";

const given = (text: string) => ({ values: { option: text } });

test("a time is a number of seconds, or has a unit", () => {
	expect(["30", "1.5", "500ms", "30s", "5m", "2h", "7d", " 1s "].map(parseSeconds)).toEqual([30, 1.5, 0.5, 30, 300, 7200, 604_800, 1]);
	expect(["", "soon", "-1", "5X", "1e3", "5 m", "0x10", "5M"].map(parseSeconds)).toEqual(Array(8).fill(undefined));
	expect(secondsOption(given("5m"), "option")).toBe(300);
	expect(processLimitsSchema.parse({ time: "90", cpu_time: "2m" })).toMatchObject({ time: 90, cpu_time: 120 });
	expect(argumentsOf(terminalInput, { timeout: "5m", cols: "80", "idle-threshold": "500ms" })).toEqual({ timeout: 300, cols: 80, idle_threshold: 0.5 });
	expect(argumentsOf(processInput, { timeout: "soon", offset: "5m" })).toEqual({ timeout: "soon", offset: "5m" }); // the tool says what is wrong with them
});

test("a size is a number of bytes, or has a unit", () => {
	expect(["5", "64K", "64k", "64KiB", "64KB", "1.5M", "16G"].map(parseSize)).toEqual([5, 65_536, 65_536, 65_536, 65_536, 1_572_864, 17_179_869_184]);
	expect(sizeOption(given("512M"), "option")).toBe(536_870_912);
	expect(() => sizeOption(given("5X"), "option")).toThrow('--option takes a number of bytes, or a size such as 64K, 512M or 16G, not "5X"');
});

test("what removes things takes no number without a unit", () => {
	expect([ageOption(given("1d"), "option"), quotaOption(given("5B"), "option"), parseAge("5")]).toEqual([86_400_000, 5, undefined]);
	expect(() => ageOption(given("7"), "option")).toThrow('--option takes a time with its unit, such as 30m, 12h or 7d, not "7"');
	expect(() => quotaOption(given("5"), "option")).toThrow('--option takes a size with its unit, such as 500M or 16G, not "5"');
});
