/** A real Docker engine on a private socket, with one image made of what this machine has, for one measurement. Needs root. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { sleep } from "./lib.mjs";

const IMAGE = "holdfast/bench:1";
const START_MS = 30_000;
const PROGRAMS = `bash dash perl grep sed find tar gzip script setsid prlimit flock kill basename cat chmod chown cp cut date dd df dirname du echo
	env expr false head id ln ls mkdir mkfifo mktemp mv nice od printf pwd readlink realpath rm rmdir seq sha256sum sleep sort split stat stty sync tail
	tee test timeout touch tr true truncate tty uname uniq wc yes`;

export const dockerMissing = () =>
	process.getuid() !== 0
		? "needs root"
		: fs.existsSync("/usr/sbin/dockerd") && fs.existsSync("/bin/busybox")
			? undefined
			: "needs docker.io and busybox-static";

/** As startSshd: the settings of a place, and how to run a command in the container that Holdfast has made for it, the only one of this engine. */
export async function startDockerd(bench, name) {
	const dir = bench.dir(name);
	const at = (name) => path.join(dir, name);
	const engine = `unix://${at("docker.sock")}`;
	const docker = (...args) => execFileSync("docker", ["-H", engine, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
	const log = fs.openSync(at("log"), "a");
	const daemon = spawn(
		"/usr/sbin/dockerd",
		[
			...["-H", engine, "--data-root", at("data"), "--exec-root", at("run"), "-p", at("docker.pid"), "--storage-driver=overlay2", "--bridge=none"],
			...["--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false", "--userland-proxy=false", "--shutdown-timeout=2"],
		],
		{ detached: true, stdio: ["ignore", log, log], env: { PATH: process.env.PATH, HOME: dir } },
	);
	fs.closeSync(log);
	bench.atEnd(() => stop(daemon, dir, docker));
	for (const deadline = Date.now() + START_MS; !answers(docker); await sleep(50))
		if (daemon.exitCode !== null || Date.now() > deadline) throw new Error(`dockerd did not start: ${fs.readFileSync(at("log"), "utf8").slice(-1_000)}`);
	makeRoot(at("image"));
	execFileSync("tar", ["-C", at("image"), "-cf", at("image.tar"), "."]);
	docker("import", "-c", "ENV PATH=/usr/local/bin:/usr/bin:/bin:/sbin", at("image.tar"), IMAGE);
	let container;
	const ours = () => {
		container ??= docker("ps", "-q").trim();
		return container;
	};
	return {
		settings: { type: "docker", image: IMAGE, engine, network: false, pids: 2_000 },
		owns: (pid) => fs.readFileSync(`/proc/${pid}/cgroup`, "latin1").includes(ours()),
		each: "one docker exec",
		there: (command) => ["docker", "-H", engine, "exec", "-i", ours(), "sh", "-c", command],
		copyIn: (from, to) => ["docker", "-H", engine, "cp", "-q", from, `${ours()}:${to}`],
		copyOut: (from, to) => ["docker", "-H", engine, "cp", "-q", `${ours()}:${from}`, to],
	};
}

function answers(docker) {
	try {
		docker("version");
		return true;
	} catch {
		return false;
	}
}

/** Busybox, and over it the programs that a usual image has, with the libraries they need. */
function makeRoot(root) {
	for (const dir of ["bin", "etc", "root", "tmp", "var/lib", "usr/bin", "proc", "sys", "dev"]) fs.mkdirSync(path.join(root, dir), { recursive: true });
	fs.chmodSync(path.join(root, "tmp"), 0o1777);
	fs.writeFileSync(path.join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
	fs.writeFileSync(path.join(root, "etc/group"), "root:x:0:\n");
	fs.copyFileSync("/bin/busybox", path.join(root, "bin/busybox"));
	for (const name of execFileSync("/bin/busybox", ["--list"], { encoding: "utf8" }).split("\n"))
		if (name !== "" && name !== "busybox" && name !== "sh") fs.symlinkSync("busybox", path.join(root, "bin", name));
	const programs = PROGRAMS.split(/\s+/)
		.map((name) => path.join("/usr/bin", name))
		.filter((file) => fs.existsSync(file));
	const libraries = execFileSync("ldd", programs, { encoding: "utf8" }).matchAll(/^\t.*?(\/\S+) \(/gm);
	const modules = fs
		.readdirSync("/usr/lib")
		.map((name) => `/usr/lib/${name}/perl-base`)
		.filter((dir) => fs.existsSync(dir));
	for (const file of new Set([...programs, ...[...libraries].map(([, file]) => file), ...modules])) {
		fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
		fs.cpSync(fs.realpathSync(file), path.join(root, file), { recursive: true });
	}
	for (const [name, target] of [
		["sh", "dash"],
		["bash", "bash"],
	]) {
		fs.rmSync(path.join(root, "bin", name), { force: true });
		fs.symlinkSync(`/usr/bin/${target}`, path.join(root, "bin", name));
	}
}

async function stop(daemon, dir, docker) {
	try {
		if (daemon.exitCode === null && answers(docker)) for (const id of docker("ps", "-aq").split("\n").filter(Boolean)) docker("rm", "-f", "-v", id);
	} finally {
		const gone = daemon.exitCode === null ? once(daemon, "exit") : undefined;
		daemon.kill("SIGTERM");
		await gone;
		for (const mount of mountsUnder(dir)) execFileSync("umount", [mount]);
		fs.rmSync(dir, { recursive: true, force: true });
	}
}

/** Deepest first. */
const mountsUnder = (dir) =>
	fs
		.readFileSync("/proc/self/mountinfo", "utf8")
		.split("\n")
		.map((line) => line.split(" ")[4] ?? "")
		.filter((mount) => mount.startsWith(`${dir}/`))
		.sort((a, b) => b.length - a.length);
