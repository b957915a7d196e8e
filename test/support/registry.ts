import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { atEnd, tempDir } from "./home.js";
import { freePort } from "./ports.js";

export const REGISTRY = "/usr/bin/docker-registry";

/** A real registry on loopback. Its address. */
export async function testRegistry(): Promise<string> {
	const address = `127.0.0.1:${await freePort()}`;
	const dir = tempDir("registry");
	const config = path.join(dir, "config.yml");
	fs.writeFileSync(config, `version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: ${dir}/data\nhttp:\n  addr: ${address}\n`);
	const registry = spawn(REGISTRY, ["serve", config], { stdio: "ignore" });
	atEnd(async () => {
		registry.kill();
		if (registry.exitCode === null && registry.signalCode === null) await once(registry, "exit");
	});
	for (const deadline = Date.now() + 10_000; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
		if (await fetch(`http://${address}/v2/`).catch(() => undefined)) return address;
		if (Date.now() > deadline) throw new Error("the registry did not start");
	}
}
