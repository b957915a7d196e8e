/** Prepared directories: many starts at once wait for them in turn. */
import { expect, test } from "vitest";
import { openHome } from "../../src/base/index.js";
import { Blanks } from "../../src/keeper/blanks.js";
import { Claims } from "../../src/keeper/index.js";
import { tempDir } from "../support/home.js";

test("each of a thousand starts at once gets a directory of its own, however long it waits for the others", async () => {
	const home = openHome(tempDir("blanks"));
	const blanks = new Blanks(home, new Claims(home), () => "/usr/bin/mkfifo", undefined);
	const ids = await Promise.all(Array.from({ length: 1_000 }, () => blanks.take()));
	expect(new Set(ids).size).toBe(1_000);
});
