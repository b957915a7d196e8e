import { describe, expect, it } from "vitest";
import { killedAt } from "./crash-points.js";
import { killedTurns } from "./crash-turns.js";

describe("killed by its own hand", () => {
	it.each([
		["before user 1", "before the message is in the log"],
		["after user 1", "behind the message"],
		["before assistant 1", "before the answer with the calls is stored"],
		["after assistant 1", "before the first call"],
		["before result 1", "between the end of a command and its result line"],
		["after result 1", "between two calls"],
		["before result 2", "between the end of the last command and its result line"],
		["after result 2", "behind the last result"],
		["before assistant 2", "before the last answer is stored"],
	])("%s: %s, each call is run once and has its true result", (crash) => killedAt(crash));
});

it("200 turns with SIGKILL at random moments: each call is run exactly once, and each turn ends with an answer", { timeout: 3_600_000 }, async () => {
	expect(await killedTurns({ conversations: 10, turns: 20, batch: 2, kills: 12, events: 24, lateMs: 100 })).toBeGreaterThan(100);
});
