import { expect, test } from "vitest";
import { seeded } from "../support/seed.js";
import { contend } from "./contenders.js";

test("sixteen programs and hundreds of deaths: the lease never has two holders", { timeout: 900_000 }, async () => {
	const said = await contend({ programs: 16, rounds: 2_000, lives: 40, random: seeded("contenders") });
	expect(said.filter((line) => !/^(?:killed|had \d+)$/.test(line))).toEqual([]);
	console.log(`${said.filter((line) => line === "killed").length} killed`);
});
