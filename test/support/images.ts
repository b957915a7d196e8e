/** Two small images, made of what this machine has: no registry is asked. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { TestEngine } from "./dockerd.js";

const PROGRAMS = [
	...["bash", "dash", "perl", "grep", "sed", "find", "xargs", "tar", "gzip"],
	...["script", "setsid", "prlimit", "flock", "setpriv", "kill"],
	...[
		"base64",
		"basename",
		"cat",
		"chgrp",
		"chmod",
		"chown",
		"cp",
		"cut",
		"date",
		"dd",
		"df",
		"dirname",
		"du",
		"echo",
		"env",
		"expr",
		"false",
		"head",
		"id",
		"ln",
		"ls",
	],
	...[
		"mkdir",
		"mkfifo",
		"mktemp",
		"mv",
		"nice",
		"nohup",
		"od",
		"printf",
		"pwd",
		"readlink",
		"realpath",
		"rm",
		"rmdir",
		"seq",
		"sha256sum",
		"sleep",
		"sort",
		"split",
	],
	...["stat", "stty", "sync", "tail", "tee", "test", "timeout", "touch", "tr", "true", "truncate", "tty", "uname", "uniq", "wc", "whoami", "yes"],
];
/** What programs read while they run, where it is here. */
const DATA = ["/usr/lib/locale/C.utf8", "/lib/terminfo"];

export async function buildImages(engine: TestEngine, names: { full: string; busybox: string }): Promise<void> {
	const base = path.join(engine.dir, "images");
	await importImage(engine, makeRootfs(path.join(base, "busybox"), "busybox"), names.busybox);
	await importImage(engine, makeRootfs(path.join(base, "full"), "full"), names.full);
	fs.rmSync(base, { recursive: true });
}

/** Returns the directory, with all files of an image in it. */
export function makeRootfs(root: string, what: "busybox" | "full"): string {
	makeBusybox(root);
	if (what === "full") addPrograms(root);
	return root;
}

function makeBusybox(root: string): void {
	for (const dir of ["bin", "etc", "root", "home/agent", "tmp", "var/lib", "usr/bin", "proc", "sys", "dev"])
		fs.mkdirSync(path.join(root, dir), { recursive: true });
	fs.chmodSync(path.join(root, "tmp"), 0o1777);
	fs.chownSync(path.join(root, "home/agent"), 1000, 1000);
	fs.writeFileSync(path.join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n");
	fs.writeFileSync(path.join(root, "etc/group"), "root:x:0:\nagent:x:1000:\n");
	fs.copyFileSync("/bin/busybox", path.join(root, "bin/busybox"));
	const applets = execFileSync("/bin/busybox", ["--list"], { encoding: "utf8" }).split("\n").filter(Boolean);
	for (const name of applets) if (name !== "busybox") fs.symlinkSync("busybox", path.join(root, "bin", name));
}

function addPrograms(root: string): void {
	const programs = PROGRAMS.map((name) => path.join("/usr/bin", name)).filter((file) => fs.existsSync(file));
	for (const file of programs) fs.copyFileSync(file, path.join(root, file));
	const libraries = execFileSync("ldd", programs, { encoding: "utf8" }).matchAll(/^\t.*?(\/\S+) \(/gm);
	const files = new Set([...DATA.filter((file) => fs.existsSync(file)), ...[...libraries].map(([, file]) => file as string), ...perlBase()]);
	// With the links on the way (/lib is one on some systems, a directory on others): each under the name it is asked for by.
	for (const file of files) {
		const target = path.join(root, file);
		fs.mkdirSync(path.dirname(target), { recursive: true });
		fs.cpSync(fs.realpathSync(file), target, { recursive: true });
	}
	fs.rmSync(path.join(root, "bin/sh"));
	fs.symlinkSync("/usr/bin/dash", path.join(root, "bin/sh"));
	fs.symlinkSync("/usr/bin/bash", path.join(root, "bin/bash"));
}

const perlBase = (): string[] =>
	fs
		.readdirSync("/usr/lib")
		.map((name) => `/usr/lib/${name}/perl-base`)
		.filter((dir) => fs.existsSync(dir));

async function importImage({ dir, docker }: TestEngine, root: string, name: string): Promise<void> {
	const archive = path.join(dir, "image.tar");
	execFileSync("tar", ["-C", root, "-cf", archive, "."]);
	const changes = "ENV PATH=/usr/local/bin:/usr/bin:/bin:/sbin";
	await docker.importImage(archive, { repo: name, changes });
	fs.rmSync(archive);
}
