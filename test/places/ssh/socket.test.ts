/** Where the control socket is, and what is found of who is behind it. */
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { askMaster, retire, socketFile, socketIdentity } from "../../../src/places/ssh/socket.js";
import { atEnd, tempDir } from "../../support/home.js";

const box = { host: "box", connectTimeout: 10 };

async function listening(file: string, greet: boolean): Promise<void> {
	const server = net.createServer((socket) => {
		socket.on("error", () => {});
		if (greet) socket.write("hello");
	});
	await new Promise<void>((resolve) => server.listen(file, resolve));
	atEnd(() => server.close());
}

test("its name is the same for the same settings, whatever their order, and another for others", () => {
	const home = tempDir("h");
	const file = socketFile(box, home);
	expect(path.dirname(file)).toBe(path.join(home, "ssh"));
	expect(socketFile({ ...box, dir: "/x", connectTimeout: 3 }, home)).toBe(file);
	const [a, b] = [
		{ A: "1", B: "2" },
		{ B: "2", A: "1" },
	];
	expect(socketFile({ ...box, options: a }, home)).toBe(socketFile({ ...box, options: b }, home));
	const others = [box, { ...box, user: "me" }, { ...box, port: 22 }, { ...box, identityFile: "/k" }, { ...box, configFile: "/c" }, { ...box, options: a }];
	expect(new Set(others.map((settings) => socketFile(settings, home))).size).toBe(others.length);
});

test("a socket whose home path is too long is in another directory for its owner alone", () => {
	const long = path.join(tempDir("h"), "x".repeat(60));
	const run = tempDir("r");
	const file = socketFile(box, long, { XDG_RUNTIME_DIR: run });
	expect(path.dirname(file)).toBe(path.join(run, "holdfast-ssh"));
	fs.chmodSync(path.dirname(file), 0o755);
	expect(socketFile(box, long, { XDG_RUNTIME_DIR: run })).toBe(file);
	expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
	// Not through a link that somebody else may have laid.
	const bad = tempDir("b");
	fs.symlinkSync(run, path.join(bad, "holdfast-ssh"));
	const before = process.env.TMPDIR;
	process.env.TMPDIR = long; // so that there is no other left
	atEnd(() => {
		if (before === undefined) delete process.env.TMPDIR;
		else process.env.TMPDIR = before;
	});
	expect(os.tmpdir()).toBe(long);
	expect(() => socketFile(box, long, { XDG_RUNTIME_DIR: bad })).toThrow(/too long for a socket.*belongs to another user.*HOLDFAST_HOME/);
});

test("an ssh master that answers is alive, one that does not is stuck, and one without a listener is gone", async () => {
	const dir = tempDir("s");
	const [good, mute, stale] = ["good", "mute", "stale"].map((name) => path.join(dir, name)) as [string, string, string];
	await listening(good, true);
	await listening(mute, false);
	fs.writeFileSync(stale, "");
	expect(await askMaster(good, 60_000)).toBe("alive");
	expect(await askMaster(mute, 50)).toBe("stuck");
	expect(await askMaster(stale, 60_000)).toBe("gone");
	expect(await askMaster(path.join(dir, "none"), 60_000)).toBe("gone");
});

test("only the one that was meant is taken out of use", async () => {
	const file = path.join(tempDir("s"), "x");
	fs.writeFileSync(file, "");
	const old = socketIdentity(file);
	fs.rmSync(file);
	retire(file, old);
	fs.writeFileSync(file, "");
	retire(file, old);
	retire(file, undefined);
	expect(fs.existsSync(file)).toBe(true);
	retire(file, socketIdentity(file));
	expect(fs.existsSync(file)).toBe(false);
});
