import path from "node:path";
import { ensureBuilt, ensureDependencies, ensurePackages, root, run } from "./setup.mjs";

ensureDependencies();
ensureBuilt();
ensurePackages({
	"busybox-static": "/bin/busybox",
	"docker.io": "/usr/sbin/dockerd",
	"docker-registry": "/usr/bin/docker-registry",
	podman: "/usr/bin/podman",
	bsdutils: "/usr/bin/script",
	"python3-minimal": "/usr/bin/python3",
	"perl-base": "/usr/bin/perl",
	tmux: "/usr/bin/tmux",
	sudo: "/usr/bin/sudo",
	bubblewrap: "/usr/bin/bwrap",
	ripgrep: "/usr/bin/rg",
	chromium: "/usr/bin/chromium",
	"openssh-server": "/usr/sbin/sshd",
	// programs that wait for input
	git: "/usr/bin/git",
	less: "/usr/bin/less",
	nano: "/usr/bin/nano",
	"openssh-client": "/usr/bin/ssh",
	sqlite3: "/usr/bin/sqlite3",
	vim: "/usr/bin/vim",
});
run(process.execPath, [path.join(root, "node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)]);
