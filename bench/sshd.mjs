/** A real sshd on loopback with keys of its own, for one measurement, and how to reach it. Needs root; nothing of the person's is read or written. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

import { sleep } from "./lib.mjs";
import { childrenOf } from "./memory.mjs";

export const sshMissing = () =>
	process.getuid() !== 0
		? "needs root"
		: fs.existsSync("/usr/sbin/sshd") && fs.existsSync("/usr/bin/ssh")
			? undefined
			: "needs openssh-server and openssh-client";

/** Returns the settings of a place, and the words before a command that runs it there over the connection that Holdfast has made. */
export async function startSshd(bench, name, home) {
	const dir = bench.dir(name);
	const at = (name) => path.join(dir, name);
	const write = (name, lines) => fs.writeFileSync(at(name), `${lines.join("\n")}\n`);
	fs.mkdirSync("/run/sshd", { recursive: true }); // the package makes it only when its service starts
	fs.mkdirSync(at("home"));
	for (const key of ["host", "user"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "bench", "-f", at(key)]);
	const port = await freePort();
	write("sshd_config", [
		...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${at("host")}`, "PidFile none", `AuthorizedKeysFile ${at("user.pub")}`],
		...["PermitRootLogin prohibit-password", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "UsePAM no", "StrictModes no"],
		...["MaxStartups 100:30:200", "Subsystem sftp internal-sftp", `SetEnv HOME=${at("home")}`], // nobody's profile files
	]);
	write("known_hosts", [`[127.0.0.1]:${port} ${fs.readFileSync(at("host.pub"), "utf8").trim()}`]);
	write("ssh_config", [
		...[`IdentityFile ${at("user")}`, "IdentitiesOnly yes", "IdentityAgent none", "GlobalKnownHostsFile none"],
		...[`UserKnownHostsFile ${at("known_hosts")}`, "StrictHostKeyChecking yes"],
	]);
	const log = fs.openSync(at("log"), "a");
	const sshd = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", at("sshd_config")], { stdio: ["ignore", log, log], detached: true });
	fs.closeSync(log);
	bench.atEnd(() => stop(sshd));
	while (!(await listens(port))) {
		if (sshd.exitCode !== null) throw new Error(`sshd did not start: ${fs.readFileSync(at("log"), "utf8")}`);
		await sleep(10);
	}
	const words = ["-F", at("ssh_config"), "-o", "BatchMode=yes", "-o", "ControlMaster=no"];
	/** The control socket is there once the place has been used. */
	const shared = () => ["-o", `ControlPath=${path.join(home, "ssh", fs.readdirSync(path.join(home, "ssh"))[0])}`];
	return {
		settings: { type: "ssh", host: "127.0.0.1", port, user: "root", configFile: at("ssh_config") },
		/** Of a process of this machine: whether it belongs to that place. */
		owns: (pid) => fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(`${dir}/`),
		each: "one multiplexed ssh",
		there: (command) => ["ssh", ...words, ...shared(), "-p", String(port), "root@127.0.0.1", command],
		copyIn: (from, to) => ["scp", "-q", "-r", ...words, ...shared(), "-P", String(port), from, `root@127.0.0.1:${to}`],
		copyOut: (from, to) => ["scp", "-q", "-r", ...words, ...shared(), "-P", String(port), `root@127.0.0.1:${from}`, to],
	};
}

/** The listener and its sessions; the client's connection ends with them. */
async function stop(sshd) {
	const all = [sshd.pid];
	for (const pid of all) all.push(...childrenOf(pid).filter((child) => fs.readFileSync(`/proc/${child}/comm`, "utf8") === "sshd\n"));
	const gone = new Promise((resolve) => sshd.once("exit", resolve));
	for (const pid of all) process.kill(pid, "SIGKILL");
	await gone;
}

const freePort = () =>
	new Promise((resolve, reject) => {
		const server = net.createServer().once("error", reject);
		server.listen(0, "127.0.0.1", () => {
			const { port } = server.address();
			server.close(() => resolve(port));
		});
	});

const listens = (port) =>
	new Promise((resolve) => {
		const socket = net.connect(port, "127.0.0.1");
		socket.once("connect", () => resolve(true));
		socket.once("error", () => resolve(false));
		socket.once("connect", () => socket.destroy());
	});
