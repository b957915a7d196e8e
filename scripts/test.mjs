import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { ensureUnpacked } from "./newer.mjs";
import { ensureBuilt, ensureDependencies, ensurePackages, root } from "./setup.mjs";
import { homeGroups, sweep, sweepGroups } from "./sweep.mjs";

ensureDependencies();
ensureBuilt();
ensurePackages({
	"busybox-static": "/bin/busybox",
	"docker.io": "/usr/sbin/dockerd",
	"docker-registry": "/usr/bin/docker-registry",
	openssl: "/usr/bin/openssl",
	podman: "/usr/bin/podman",
	bsdutils: "/usr/bin/script",
	python3: "/usr/bin/pydoc3", // with its library, for the tests of clients/python
	"nats-server": "/usr/sbin/nats-server",
	"perl-base": "/usr/bin/perl",
	tmux: "/usr/bin/tmux",
	sudo: "/usr/bin/sudo",
	systemd: "/usr/bin/systemd-analyze",
	bubblewrap: "/usr/bin/bwrap",
	ripgrep: "/usr/bin/rg",
	chromium: "/usr/bin/chromium",
	"openssh-server": "/usr/sbin/sshd",
	slurmctld: "/usr/sbin/slurmctld",
	slurmd: "/usr/sbin/slurmd",
	"slurm-client": "/usr/bin/sbatch",
	munge: "/usr/sbin/munged",
	// servers of chat platforms
	prosody: "/usr/bin/prosody",
	ngircd: "/usr/sbin/ngircd",
	"exim4-daemon-light": "/usr/sbin/exim4",
	"dovecot-imapd": "/usr/lib/dovecot/imap",
	// programs that wait for input
	git: "/usr/bin/git",
	less: "/usr/bin/less",
	nano: "/usr/bin/nano",
	"openssh-client": "/usr/bin/ssh",
	sqlite3: "/usr/bin/sqlite3",
	vim: "/usr/bin/vim",
	// completions and manual pages
	zsh: "/usr/bin/zsh",
	fish: "/usr/bin/fish",
	"man-db": "/usr/bin/man",
});
ensureUnpacked("apptainer", "usr/bin/apptainer", ["apptainer", "squashfuse", "fuse-overlayfs", "uidmap", "busybox-static"]);
if (!hasNewKubectl()) ensureUnpacked("kubectl", "usr/bin/kubectl", ["kubernetes-client"]);

const ENOUGH_MEMORY = 6 * 2 ** 30; // a run uses less than 1 GiB of it for files

// All that the run writes is below one directory; whatever names it and is still there at the end, however that came, goes with it.
const directory = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-test-"));
useMemory(directory);
const groups = homeGroups();
const vitest = spawn(process.execPath, [path.join(root, "node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)], {
	cwd: root,
	stdio: "inherit",
	env: { ...process.env, TEST_ROOT: path.join(directory, "t") },
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => vitest.kill(signal === "SIGINT" ? "SIGTERM" : signal)); // INT is only a wish to vitest
vitest.on("exit", (code) => {
	const left = sweep(directory);
	if (left > 0) console.error(`ended ${left} processes that the run has left`);
	sweepGroups(groups);
	process.exit(code ?? 130);
});

/**
 * Mounts a file system in memory on the directory, where root runs the tests and there is enough memory. Tests create and remove thousands of small files;
 * on ext4 each new one passes by all inodes that were freed within the last minute, which took a quarter of the time of a run.
 */
function useMemory(directory) {
	if (process.getuid() !== 0 || os.freemem() < ENOUGH_MEMORY) return;
	spawnSync("mount", ["-t", "tmpfs", "-o", "mode=711", "holdfast-test", directory]); // without the right to mount, the directory stays on disk
}

/** Older ones do not speak to the double of a cluster. */
function hasNewKubectl() {
	const { stdout } = spawnSync("kubectl", ["version", "--client", "-o", "json"], { encoding: "utf8" });
	return Number(/"gitVersion":\s*"v1\.(\d+)/.exec(stdout ?? "")?.[1] ?? 0) >= 31;
}
