import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { noSshd, type Sshd, startSshd } from "../support/sshd.js";
import { taskFilesSuite } from "./files-suite.js";

let sshd: Sshd;
taskFilesSuite({
	name: "ssh",
	missing: noSshd,
	start: async () => {
		sshd = await startSshd({ lasting: true });
	},
	stop: () => sshd.end(),
	entry: () => ({ type: "ssh", ...sshd.options, user: "root" }),
	tmp: () => "~",
	// The connection would stay for another minute.
	end: (home) => {
		const sockets = path.join(home, "ssh");
		for (const socket of fs.readdirSync(sockets)) execFileSync("ssh", ["-S", path.join(sockets, socket), "-O", "exit", "nobody"], { stdio: "ignore" });
	},
});
