/** The real sudo, for a user made for this test, whose gateway runs. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { expect, test } from "vitest";
import { modelServer } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { obeys } from "../support/obeys.js";
import { configFor, MAIN, newWorld } from "../support/seat.js";
import { newUser, noUser } from "../support/user.js";
import { TelegramDouble } from "./platforms/doubles/telegram.js";

test.skipIf(noUser)(`a sudo that wants a password gets none; the chat is told once what to configure, and offered the link${noUser}`, async () => {
	await using server = await modelServer({ script: obeys });
	const double = new TelegramDouble();
	const apiRoot = await double.listen();
	atEnd(() => double.close());
	const keys = { token: { file: "telegram-token" } };
	const world = newWorld(configFor(server, { gateway: { platforms: { telegram: { apiRoot, keys } }, people: { "telegram/7": "admin" } } }));
	fs.mkdirSync(world.file("keys"), { mode: 0o700 });
	fs.writeFileSync(world.file("keys/telegram-token"), double.token, { mode: 0o600 });
	const [program = "", ...words] = newUser(world, `Pw-${randomBytes(8).toString("hex")}`);
	const env = { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" };
	const gateway = spawn(program, [...words, process.execPath, MAIN, "gateway"], { cwd: world.work, env, stdio: ["ignore", "ignore", "inherit"] });
	const ended = new Promise((resolve) => gateway.once("exit", resolve));
	atEnd(async () => {
		gateway.kill("SIGKILL");
		await ended;
	});
	const texts = (): string[] => double.sent.map(({ text = "" }) => text);
	double.say(7, "run sudo -k; sudo id -un");
	await until("it has failed", () => texts().some((text) => /^Done: \[exited, exit code 1\]/.test(text)), 60_000);
	await until("what to do is said", () => texts().some((text) => /wants a password for sudo[\s\S]*NOPASSWD[\s\S]*\/link keyboard/.test(text)));
	expect(texts().filter((text) => /wants a password for sudo/.test(text))).toHaveLength(1);
	double.say(7, "and now?");
	await until("it goes on", () => texts().includes("You said: and now?"), 60_000);
	gateway.kill("SIGTERM");
	expect(await ended).toBe(0);
	expect(double.strange).toEqual([]);
});
