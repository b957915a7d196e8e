import { expect, test } from "vitest";
import { noExchange } from "../../support/exchange.js";
import { raceCopies } from "./race.js";

test.skipIf(noExchange)("5,000 rounds of copies stay in a directory that changes places with a link to another one", { timeout: 3_600_000 }, async () => {
	expect(await raceCopies(5_000)).toBeGreaterThan(1_000);
});
