/** A key that was planted: it goes to its endpoint, and nowhere else. */
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { modelServer } from "../model-server/index.js";
import { obeys } from "../support/obeys.js";
import { newWorld, run, sit } from "../support/seat.js";

const KEY = "Planted_Key-0a1b2c3d4e5f6a7b8c9d";

it("the key is in no request, log, export, screen or environment of a child", async () => {
	await using server = await modelServer({ script: obeys, key: KEY });
	const world = newWorld();
	const answers = { url: server.url, name: "planted", key: KEY, model: "scripted", toolsets: ["terminal", "file"], anyway: true };
	const setup = await run(world, ["setup", "--json", "-"], { input: JSON.stringify(answers) });
	expect(setup.code).toBe(0);
	expect(fs.statSync(world.file("keys/planted")).mode & 0o777).toBe(0o600);
	const probed = server.requests.length;

	const seat = await sit(world, [], { cols: 120, rows: 50, env: { SCRIPTED_API_KEY: KEY } });
	await seat.shows("new conversation");
	await seat.type("run env<ENTER>");
	await seat.shows("Done: [exited, exit code 0");
	expect(found(path.join(world.dir, "core"))).toEqual([]);
	// The model may read any file of this user: then at least no one is sent what it is.
	await seat.type(`run cat ${world.file("keys/planted")}; base64 ${world.file("keys/planted")}<ENTER>`);
	await seat.shows(/Done: [\s\S]*redacted[\s\S]*tokens in/);
	await seat.type(`!!cat ${world.file("keys/planted")}<ENTER>`);
	await seat.shows(/You said: I ran this command[\s\S]*redacted/);
	await seat.send(`is it \u001b[200~${KEY}\u001b[201~?\r`);
	await seat.shows(/You said: is it \S*redacted/);
	await seat.send(`/queue and \u001b[200~${KEY}\u001b[201~?\r`);
	await seat.shows(/You said: and \S*redacted/);
	await seat.send(`/title of \u001b[200~${KEY}\u001b[201~\r`);
	await seat.shows(/It is "of \S*redacted/);
	await seat.type("<CTRL+D>");
	expect(await seat.ended()).toBe(0);
	const file = path.join(world.work, "prompt");
	fs.writeFileSync(file, `or ${KEY}?`);
	const once = await run(world, ["--continue", "-q", `is it ${KEY},`, "-f", file]);
	fs.rmSync(file);
	expect(once).toMatchObject({ code: 0, stdout: "You said: is it …[redacted],\n\nor …[redacted]?\n" });

	expect(server.requests.length).toBeGreaterThan(probed + 3);
	expect(server.requests.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
	expect(server.requests.filter(({ body }) => JSON.stringify(body).includes(KEY))).toEqual([]);
	expect(seat.printed().replace(new RegExp(`› (is it|/queue and|/title of) ${KEY}`, "g"), "")).not.toContain(KEY); // but where the person pasted it
	expect(found(path.join(world.dir, "agent"))).toEqual(["keys/planted"]);
	for (const format of ["openai", "anthropic", "sharegpt"]) {
		const { stdout, code } = await run(world, ["export", "20", "--format", format]);
		expect(code).toBe(0);
		expect(stdout).not.toContain(KEY);
	}
	const wrong = await run(world, ["setup", "--json", "-"], { input: JSON.stringify({ ...answers, key: `${KEY}x`, anyway: false }) });
	expect(wrong.code).toBe(1);
	expect(wrong.stdout + wrong.stderr).not.toContain(KEY);
});

/** Files below a directory that have the key in them. */
function found(dir: string): string[] {
	return (fs.readdirSync(dir, { recursive: true }) as string[])
		.filter((name) => fs.statSync(path.join(dir, name), { throwIfNoEntry: false })?.isFile())
		.filter((name) => fs.readFileSync(path.join(dir, name)).includes(KEY));
}
