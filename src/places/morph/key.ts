/** The ssh key of an instance: a file of the home, private to this user, removed with the instance. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureDir, HoldfastError, namesIn, statIfThere, unlinkIfThere } from "../../base/index.js";
import { programEnvironment, runProgram } from "../child.js";
import type { MorphKey } from "./api.js";

const dirOf = (home: string): string => path.join(home, "morph");
export const knownHosts = (home: string): string => path.join(dirOf(home), "known_hosts");

/** Returns the file with the key of an instance. Requests the key if there is none: ids are not reused. */
export async function keyFile(home: string, id: string, ask: () => Promise<MorphKey>): Promise<string> {
	const file = path.join(dirOf(home), `${id}.key`);
	if (statIfThere(file) !== undefined) return file;
	const { private_key, password } = await ask();
	ensureDir(dirOf(home));
	const draft = `${file}.${randomBytes(4).toString("hex")}`;
	try {
		fs.writeFileSync(draft, `${private_key.trimEnd()}\n`, { mode: 0o600 });
		if (password) await unlock(draft, password);
		fs.renameSync(draft, file);
	} finally {
		unlinkIfThere(draft);
	}
	return file;
}

/** Removes the passphrase of a key. ssh-keygen gets it from a file: other users could see an argument. A key without one stays as it is. */
async function unlock(file: string, password: string): Promise<void> {
	const [asker, secret] = [`${file}.ask`, `${file}.ask.secret`];
	try {
		fs.writeFileSync(secret, `${password}\n`, { mode: 0o600 });
		fs.writeFileSync(asker, '#!/bin/sh\nexec cat "$0.secret"\n', { mode: 0o700 });
		const env = programEnvironment({ SSH_ASKPASS: asker, SSH_ASKPASS_REQUIRE: "force", DISPLAY: "none" });
		const program = { name: "ssh-keygen", missing: "install OpenSSH's client, on Debian the package openssh-client", env };
		const { code, said } = await runProgram(program, ["-q", "-p", "-N", "", "-f", file], { ms: 20_000 });
		if (code !== 0) throw new HoldfastError("START_FAILED", `the key of the Morph instance cannot be unlocked (${said.trim().slice(-200)})`);
	} finally {
		for (const one of [secret, asker]) unlinkIfThere(one);
	}
}

/** Removes the key of an instance, and drafts of it by killed programs. */
export function removeKey(home: string, id: string): void {
	for (const name of namesIn(dirOf(home))) if (name.startsWith(`${id}.key`)) unlinkIfThere(path.join(dirOf(home), name));
}
