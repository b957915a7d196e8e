/** Another machine over SSH, which is this one: a real sshd with users of its own. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { noSshd, PLAIN_ID, PLAIN_USER, type Sshd, startSshd } from "../support/sshd.js";
import { type ContractPlace, configured } from "./places.js";

function overSshAs(name: string, user: string): ContractPlace {
	let sshd: Sshd;
	const plain = user === PLAIN_USER;
	return {
		name,
		missing: noSshd,
		start: async () => {
			sshd = await startSshd({ lasting: true });
		},
		stop: () => sshd.end(),
		open: configured(() => ({ type: "ssh", ...sshd.options, user })),
		// The connection would stay for another minute.
		end: async (home) => {
			const sockets = path.join(home, "ssh");
			if (!fs.existsSync(sockets)) return;
			for (const socket of fs.readdirSync(sockets)) execFileSync("ssh", ["-S", path.join(sockets, socket), "-O", "exit", "nobody"], { stdio: "ignore" });
		},
		cwd: () => (plain ? sshd.plainHome : sshd.home),
		listed: /^ssh:/,
		...(plain ? { owner: PLAIN_ID } : {}),
	};
}

export const overSsh = overSshAs("ssh", "root");
export const overSshAsPlainUser = overSshAs("ssh, unprivileged", PLAIN_USER);
