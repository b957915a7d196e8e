/** The real sudo, for a user made for this test, in a chat of that user's. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { modelServer } from "../model-server/index.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, sit } from "../support/seat.js";
import { newUser, noUser } from "../support/user.js";

test.skipIf(noUser)(`a password for sudo is asked in place, hidden, once, and is kept nowhere${noUser}`, async () => {
	const password = `Pw-${randomBytes(8).toString("hex")}`;
	await using server = await modelServer({ script: obeys });
	const world = newWorld(configFor(server));
	const prefix = newUser(world, password);
	const seat = await sit(world, [], { prefix });
	await seat.shows("new conversation");
	await seat.type("run sudo -k; sudo id -un<ENTER>half a draft");
	await seat.shows("Your password (not shown; Enter: no):");
	await seat.type("wrong<ENTER>");
	await seat.shows(/Done: \[exited, exit code 1\]/);
	await seat.type("<CTRL+U>run sudo id -un; sudo -k; sudo id -u<ENTER>");
	await seat.shows(/Done: \[exited, exit code 1\][\s\S]*Your password/);
	await seat.type(`${password}<ENTER>`);
	await seat.shows("Done: [exited, exit code 0] / root / 0");
	await seat.type("<CTRL+D>");
	expect(await seat.ended()).toBe(0);
	expect(seat.printed()).not.toContain(password.slice(3));
	const files = fs.readdirSync(world.dir, { recursive: true }) as string[];
	const has = (name: string) =>
		fs.statSync(path.join(world.dir, name), { throwIfNoEntry: false })?.isFile() && fs.readFileSync(path.join(world.dir, name)).includes(password.slice(3));
	expect(files.filter(has)).toEqual([]);
});
