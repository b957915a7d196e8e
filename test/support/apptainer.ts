/**
 * A real Apptainer for tests, as an ordinary user has it: from Debian's newest suite (scripts/newer.mjs), in a root of its own, since it needs a newer libc. One for the
 * whole run, started by whoever needs it first and stopped by the global teardown. Two processes hold the namespaces: one the root, in which only the
 * directory of temporary files is this machine's, the other the user, uid 1000 in there and the owner of the tests' files outside. Needs root.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Identity, isAlive, readStat } from "../../src/base/proc.js";
import { atEnd, testRoot, until } from "./home.js";
import { makeRootfs } from "./images.js";

const lower = () => path.join(process.env.TEST_CACHE ?? "", "apptainer");

/** Why there can be none here; undefined when there can. */
export const noApptainer: string | undefined =
	process.getuid?.() !== 0
		? "a real Apptainer for tests can only be set up by root"
		: !fs.existsSync(path.join(lower(), "usr/bin/apptainer"))
			? "Apptainer could not be fetched (npm test does)"
			: !fs.existsSync("/bin/busybox")
				? "busybox is not installed (package busybox-static)"
				: !fs.existsSync("/dev/fuse")
					? "there is no /dev/fuse"
					: spawnSync("unshare", ["--user", "--map-user=1000", "--map-group=1000", "--mount", "true"]).status !== 0
						? "user namespaces cannot be made"
						: undefined;

export interface TestApptainer {
	/** With `apptainer` in it, for PATH. */
	readonly bin: string;
	/** What its user calls home. */
	readonly home: string;
	/** SIF files: bash, dash, coreutils, util-linux, perl; and busybox alone. */
	readonly full: string;
	readonly busybox: string;
}

const SHARED = "apptainer";
const ETC = {
	passwd: "root:x:0:0:root:/root:/bin/sh\nu:x:1000:1000:u:HOME:/bin/sh\n",
	group: "root:x:0:\nu:x:1000:\n",
	hosts: "127.0.0.1 localhost\n",
	"resolv.conf": "",
	localtime: "",
};
const HOLD = `
set -e
mount -t tmpfs -o mode=755 tmpfs "$1"; cd "$1"; mkdir up work root
mount -t overlay -o "lowerdir=$2,upperdir=up,workdir=work" overlay root
mkdir -p root/proc root/sys root/dev root/.old "root$3"
mount --rbind /proc root/proc; mount --rbind /sys root/sys; mount --rbind /dev root/dev; mount --rbind "$3" "root$3"
mknod -m 666 fuse c 10 229; mount --bind fuse root/dev/fuse
cp -r "$4"/. root/etc/
for name in sh env cat sleep umount ln rm; do [ -e root/usr/bin/$name ] || ln -s busybox root/usr/bin/$name; done
cd root; pivot_root . .old; umount -l /.old; echo ready; exec sleep infinity`;

export async function sharedApptainer(): Promise<TestApptainer> {
	const dir = path.join(path.dirname(testRoot()), SHARED);
	const found: TestApptainer = {
		bin: path.join(dir, "bin"),
		home: path.join(dir, "home"),
		full: path.join(dir, "full.sif"),
		busybox: path.join(dir, "busybox.sif"),
	};
	const ready = path.join(dir, "ready");
	try {
		fs.mkdirSync(dir, { mode: 0o755 });
	} catch {
		await until("another worker has started Apptainer", () => fs.existsSync(ready), 120_000);
		return found;
	}
	await start(dir, found);
	for (const what of ["full", "busybox"] as const) {
		const rootfs = makeRootfs(path.join(dir, `rootfs-${what}`), what);
		execFileSync(path.join(found.bin, "apptainer"), ["-q", "build", "--mksquashfs-args", "-noI -noD -noF -noX -processors 1", found[what], rootfs], {
			stdio: ["ignore", "ignore", "pipe"],
		});
		fs.rmSync(rootfs, { recursive: true });
	}
	fs.writeFileSync(ready, "");
	return found;
}

async function start(dir: string, { bin, home }: TestApptainer): Promise<void> {
	for (const made of [bin, home, path.join(dir, "etc"), path.join(dir, "mnt")]) fs.mkdirSync(made);
	for (const [name, text] of Object.entries(ETC)) fs.writeFileSync(path.join(dir, "etc", name), text.replace("HOME", home));
	const hold = (program: string, args: readonly string[]) => {
		// Without TEST_ROOT: they are not something that a test has left behind.
		const child = spawn(program, args, { detached: true, stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env.PATH } });
		child.unref();
		return child;
	};
	const root = hold("unshare", [
		"--mount",
		"--propagation",
		"private",
		"sh",
		"-c",
		HOLD,
		"hold",
		path.join(dir, "mnt"),
		lower(),
		fs.realpathSync(os.tmpdir()),
		path.join(dir, "etc"),
	]);
	const user = hold("unshare", ["--user", "--map-user=1000", "--map-group=1000", "sh", "-c", "echo ready; exec sleep infinity"]);
	for (const { stdout, pid } of [root, user]) {
		await new Promise<void>((resolve, reject) => {
			stdout?.once("data", () => resolve());
			stdout?.once("close", () => reject(new Error(`Apptainer's namespaces could not be made (${pid})`)));
		});
		stdout?.destroy();
	}
	fs.writeFileSync(path.join(dir, "holders"), JSON.stringify([root, user].map(({ pid }) => readStat(pid as number))));
	const wrapper = `#!/bin/sh
cd /
export HOME=${home} USER=u LOGNAME=u
exec nsenter --user=/proc/${user.pid}/ns/user --mount=/proc/${root.pid}/ns/mnt --root=/proc/${root.pid}/root --wd=/proc/${root.pid}/root --preserve-credentials -- /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/bin/apptainer "$@"
`;
	fs.writeFileSync(path.join(bin, "apptainer"), wrapper, { mode: 0o755 });
}

/** For test/support/global.ts. */
export async function stopApptainer(root: string): Promise<void> {
	const file = path.join(root, SHARED, "holders");
	const holders: Identity[] = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : [];
	for (const one of holders) if (isAlive(one)) process.kill(one.pid, "SIGKILL");
	await until("Apptainer's namespaces are gone", () => !holders.some(isAlive));
}

/** Puts it into PATH until the test, or the file, is over. */
export function useApptainer({ bin }: Pick<TestApptainer, "bin">): void {
	const before = process.env.PATH;
	process.env.PATH = `${bin}:${before}`;
	atEnd(() => {
		process.env.PATH = before;
	});
}
