/** Copies into and out of a directory that changes places with a link to another one. */
import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { HoldfastError } from "../../../src/base/errors.js";
import { copy, localFiles, strictFiles } from "../../../src/places/files/index.js";
import { exchanging } from "../../support/exchange.js";
import { tempDir } from "../../support/home.js";

/** How many of the copies were refused, because the link was met. */
export async function raceCopies(rounds: number): Promise<number> {
	const dir = fs.realpathSync(tempDir());
	const at = (name: string) => path.join(dir, name);
	for (const name of ["outside/sub", "D/sub", "far/folder/sub"]) fs.mkdirSync(at(name), { recursive: true });
	for (const name of ["outside/s", "outside/sub/s", "outside/victim"]) fs.writeFileSync(at(name), "precious");
	for (const name of ["D/s", "D/sub/s"]) fs.writeFileSync(at(name), "inside");
	for (const name of ["far/evil", "far/folder/a", "far/folder/sub/b"]) fs.writeFileSync(at(name), "evil");
	fs.symlinkSync("outside", at("link"));
	const before = fs.readdirSync(at("outside"), { recursive: true }).sort();
	const stop = await exchanging(at("D"), at("link"));
	let refused = 0;
	const attempt = async (act: () => Promise<unknown>) => {
		await act().catch((error: unknown) => {
			if (!(error instanceof HoldfastError)) throw error;
			expect(error.message).not.toMatch(/\/proc\/self/);
			refused++;
		});
	};
	const [near, strict] = [localFiles(), strictFiles()];
	for (let round = 0; round < rounds; round++) {
		await attempt(() => copy({ files: strict, path: at("D/s") }, { files: near, path: at("far/got") }));
		await attempt(() => copy({ files: strict, path: at("D") }, { files: near, path: at("far/tree") }));
		await attempt(() => copy({ files: near, path: at("far/evil") }, { files: strict, path: at("D/victim") }));
		await attempt(() => copy({ files: near, path: at("far/folder") }, { files: strict, path: at("D/new") }));
		await attempt(() => copy({ files: near, path: at("far/folder/.") }, { files: strict, path: at("D/sub") }));
		await attempt(() => strict.remove(at("D/new"), { recursive: true }));
		for (const name of ["far/got", "far/tree/s", "far/tree/sub/s"]) if (fs.existsSync(at(name))) expect(fs.readFileSync(at(name), "utf8")).not.toBe("precious");
		fs.rmSync(at("far/tree"), { recursive: true, force: true });
	}
	await stop();
	expect(fs.readdirSync(at("outside"), { recursive: true }).sort()).toEqual(before);
	for (const name of ["s", "sub/s", "victim"]) expect(fs.readFileSync(path.join(at("outside"), name), "utf8")).toBe("precious");
	return refused;
}
