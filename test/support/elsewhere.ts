/** A home whose configuration names a place `box`: a real sshd on loopback. What runs there is ended with the test. */
import fs from "node:fs";
import path from "node:path";
import { atEnd, tempDir } from "./home.js";
import { openRuntime, type Runtime } from "./internal.js";
import { type Sshd, startSshd } from "./sshd.js";

export interface Elsewhere {
	readonly sshd: Sshd;
	readonly home: string;
	/** For programs; that of the test itself is set. */
	readonly env: { readonly XDG_CONFIG_HOME: string };
	/** One that starts things there. */
	readonly runtime: Runtime;
}

/** `rc`: what the login reads there. */
export async function elsewhere({ rc = "", config: more = {} }: { rc?: string; config?: object } = {}): Promise<Elsewhere> {
	const sshd = await startSshd();
	fs.writeFileSync(path.join(sshd.home, ".bashrc"), rc);
	const [home, config] = [tempDir("home"), tempDir("config")];
	fs.mkdirSync(path.join(config, "holdfast"), { mode: 0o700 });
	fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ ...more, places: { box: { type: "ssh", ...sshd.options } } }));
	const before = process.env.XDG_CONFIG_HOME;
	process.env.XDG_CONFIG_HOME = config;
	const runtime = await openRuntime({ home, warm: 0, place: "box" });
	atEnd(async () => {
		const { gone, notes } = await runtime.endTask("default");
		await runtime.close();
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
		if (!gone) throw new Error(`what was started there is not gone: ${notes.join(" ")}`);
	});
	return { sshd, home, env: { XDG_CONFIG_HOME: config }, runtime };
}
