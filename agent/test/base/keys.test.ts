import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type AgentHome, KeyRing } from "../../src/base/index.js";
import { tempHome } from "../support/dirs.js";

const KEY = "sk-planted-0123456789abcdef";

function ringWith(content: string, mode = 0o600): { readonly ring: KeyRing; readonly file: string; readonly home: AgentHome } {
	const home = tempHome();
	const file = path.join(home.keys, "openai");
	fs.writeFileSync(file, content, { mode });
	fs.chmodSync(file, mode);
	return { ring: new KeyRing(home), file, home };
}

const refusal = (ring: KeyRing, file = "openai") => expect(ring.read({ file })).rejects;

it("reads a key from a file of the home, without the newline at its end", async () => {
	const { ring } = ringWith(`${KEY}\n`);
	expect(await ring.read({ file: "openai" })).toBe(KEY);
});

it("refuses a file that others can read, that is missing, empty, or has more than a key in it; and never says what is in it", async () => {
	for (const mode of [0o640, 0o604, 0o620])
		await refusal(ringWith(KEY, mode).ring).toMatchObject({ code: "KEY", message: expect.stringContaining("chmod 600") });
	await refusal(ringWith(KEY).ring, "other").toThrow(/there is no key file .*holdfast-agent setup key/);
	await refusal(ringWith(" \n").ring).toThrow(/is empty/);
	const two = ringWith(`${KEY}\nsk-second-0123456789\n`).ring.read({ file: "openai" });
	await expect(two).rejects.toThrow(/more than one line/);
	await expect(two).rejects.not.toThrow(/sk-/);
	await refusal(ringWith(`Bearer ${KEY}`).ring).toThrow(/spaces or characters/);
	await refusal(ringWith(`${KEY}\u00e9`).ring).toThrow(/spaces or characters/);
	await refusal(ringWith("x".repeat(100_000)).ring).toThrow(/100000 bytes/);
	const dir = ringWith(KEY);
	fs.mkdirSync(path.join(dir.home.keys, "dir"), { mode: 0o700 });
	await refusal(dir.ring, "dir").toThrow(/is not a file/);
});

it("reads a key from a command, which gets its arguments as they are", async () => {
	const ring = new KeyRing(tempHome());
	expect(await ring.read({ command: ["printf", "%s\n", `${KEY}$HOME`] })).toBe(`${KEY}$HOME`);
});

it("a command is asked once in five minutes, and a file every time", async () => {
	const home = tempHome();
	let now = 0;
	const ring = new KeyRing(home, { now: () => now });
	const count = path.join(home.root, "count");
	const command = ["sh", "-c", 'echo >> "$0"; echo "key-number-$(wc -l < "$0")" | tr -d " "', count];
	const read = () => ring.read({ command });
	expect([await read(), await read()]).toEqual(["key-number-1", "key-number-1"]);
	now = 299_999;
	expect(await read()).toBe("key-number-1");
	now = 300_000;
	expect(await read()).toBe("key-number-2");
	now = 0; // the clock was set back
	expect(await read()).toBe("key-number-3");
	ring.store("openai", KEY);
	expect(await ring.read({ file: "openai" })).toBe(KEY);
	ring.store("openai", `${KEY}2`);
	expect(await ring.read({ file: "openai" })).toBe(`${KEY}2`);
	expect(ring.redact("key-number-1 key-number-3")).toBe("…[redacted] …[redacted]");
});

it("a command that fails, is not there, or says nothing is an error in words", async () => {
	const ring = new KeyRing(tempHome());
	await expect(ring.read({ command: ["sh", "-c", "echo locked >&2; exit 3"] })).rejects.toThrow(/sh ended with 3: locked; run it yourself/);
	await expect(ring.read({ command: ["no-such-program"] })).rejects.toThrow(/no-such-program is not there/);
	await expect(ring.read({ command: ["true"] })).rejects.toThrow(/the output of true is empty/);
	await expect(ring.read({ command: ["sh", "-c", "yes | head -c 1000000"] })).rejects.toMatchObject({ code: "KEY" });
	await expect(ring.read({ command: ["sleep", "60"] }, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

it("no key is ever in the environment", async () => {
	const { ring } = ringWith(KEY);
	await ring.read({ file: "openai" });
	ring.store("second", "sk-second-0123456789");
	expect(JSON.stringify(process.env)).not.toMatch(/sk-planted|sk-second/);
	expect(await ring.read({ command: ["sh", "-c", "env | grep sk- || echo none"] })).toBe("none");
});

it("stores a key for its owner alone, and refuses names that lead elsewhere and keys that are none", async () => {
	const home = tempHome();
	const ring = new KeyRing(home);
	expect(ring.store("openai", ` ${KEY}\n`)).toEqual({ file: "openai" });
	expect(fs.statSync(path.join(home.keys, "openai")).mode & 0o777).toBe(0o600);
	expect(await new KeyRing(home).read({ file: "openai" })).toBe(KEY);
	for (const name of ["../config", "", ".hidden", "a/b", "a\nb"]) expect(() => ring.store(name, KEY)).toThrow(expect.objectContaining({ code: "INVALID" }));
	expect(() => ring.store("x", "two words")).toThrow(/spaces or characters/);
});

it("masks every key that it knows, also as JSON, in a URL and in base64", () => {
	const ring = new KeyRing(tempHome());
	const key = 'sk-"odd/+key=0123456789';
	ring.store("odd", key);
	const texts = [
		key,
		JSON.stringify({ key }),
		`https://x/?key=${encodeURIComponent(key)}`,
		...["", "u", "us", "use"].map((before) => Buffer.from(`${before}${key}:x`).toString("base64")),
	];
	for (const text of texts) {
		const masked = ring.redact(text);
		expect(masked).toContain("…[redacted]");
		expect(masked).not.toContain("0123456789");
		expect(Buffer.from(masked.replace("…[redacted]", ""), "base64").toString()).not.toContain("key=0123");
	}
	expect(ring.redact("nothing to see")).toBe("nothing to see");
});
