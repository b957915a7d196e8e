/** Masking can be switched off where the secrets are the task's own. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/base/config.js";
import { boundaryOf, placeFrom } from "../../src/places/address.js";
import { tempDir, testRuntime } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { noSandbox } from "../support/sandbox.js";

const KEY = `ghp_${"Ab3dEf7hIj1kLm5nOp9qRs2tUv6wXy0zAb3d"}`;

test("only for a place that is a boundary", async () => {
	for (const place of ["local", "ssh://nowhere"])
		await expect(openRuntime({ home: tempDir("home"), place, mask: false })).rejects.toThrow(/mask: false is for/);
	const wish = (options: object) => placeFrom("box", () => ({ places: { box: { type: "docker", image: "debian", ...options } } }));
	const hides = (options: object) => boundaryOf(wish(options), loadConfig).hides;
	expect([hides({}), hides({ volumes: ["/srv:/srv"] })]).toEqual([true, false]);
});

test.skipIf(noSandbox)("results of a sandbox are as printed; secrets of the program, the audit, lists and other places are masked", async () => {
	const directory = tempDir("work");
	const runtime = await testRuntime({ place: "local+sandbox", mask: false, sandbox: { directory } });
	const own = "0wn-s3cret-of-the-program";
	runtime.home.secrets.know(own);
	expect(await runtime.terminal({ command: `echo ${KEY} >f; cat f; echo ${own}` })).toMatchObject({ output: `${KEY}\n…[redacted]\n` });
	expect(JSON.stringify(await runtime.readFile({ path: "f" }))).toContain(KEY);
	const { session_id } = await runtime.terminal({ command: `echo ${KEY}; sleep 300`, background: true });
	expect(await runtime.process({ action: "wait", session_id, until: { pattern: "ghp_\\w+" } })).toMatchObject({ match: KEY });
	expect(JSON.stringify(await runtime.process({ action: "list" }))).not.toContain(KEY);
	expect(JSON.stringify(await runtime.terminal({ command: `echo ${KEY}` }, { place: "local" }))).not.toContain(KEY);
	const elsewhere = await runtime.terminal({ command: `echo ${KEY}; sleep 300`, background: true }, { place: "local" });
	const waited = await runtime.process({ action: "wait", session_id: elsewhere.session_id, until: { pattern: "ghp_" } });
	expect(JSON.stringify(waited)).not.toContain(KEY);
	await runtime.close();
	for (const name of fs.readdirSync(runtime.home.audit)) expect(fs.readFileSync(path.join(runtime.home.audit, name), "utf8")).not.toContain(KEY);
});
