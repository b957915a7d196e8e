import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { missing } from "../support/browser.js";

const noNamespace = spawnSync("unshare", ["-n", "ip", "link"]).status === 0 ? undefined : "needs root, unshare and ip";

it.skipIf(missing ?? noNamespace)("shows no page that a redirect, a name, a frame or a link has led to a metadata server", { timeout: 300_000 }, () => {
	const home = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? "", "home-"));
	const { stdout, stderr } = spawnSync("unshare", ["-n", process.execPath, "browser/test/support/link-local.mjs", home], { encoding: "utf8" });
	expect(stderr).toBe("");
	type Said = { status: string; output: string; error: string | null };
	const { allowed, downloads, ...found } = JSON.parse(stdout) as { allowed: string; downloads: Said[] } & Record<string, Said>;
	expect(JSON.stringify(found)).not.toContain("SECRET-KEYS");
	const why = expect.stringMatching(/came from 169\.254\.169\.254, where metadata servers are, so the page is not shown/);
	expect(downloads.map(({ error }) => error)).toEqual(
		Array(6).fill(expect.stringMatching(/came from 169\.254\.169\.254, where .*, so the download is not kept$/)),
	);
	for (const name of ["redirect", "name", "frame", "link", "again", "popup"]) expect([name, found[name]?.output]).toEqual([name, why]);
	expect(found.script?.output).toMatch(/scripts of localhost have fetched from 169\.254\.169\.254, where metadata servers are, so the page is not shown/);
	expect(found.screenshot).toMatchObject({ status: "error", error: why });
	expect(allowed).toContain("SECRET-KEYS"); // a person can allow it
	fs.rmSync(home, { recursive: true, force: true });
});
