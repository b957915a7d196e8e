/** Decides whether a local file, mounted in a container or sandbox, lets commands inside harm this machine. */
import os from "node:os";
import path from "node:path";
import { realPath, statIfThere } from "../base/index.js";

const SYSTEM = ["/etc", "/run", "/var/run", "/proc", "/sys", "/dev", "/boot", "/root", "/usr", "/bin", "/sbin", "/lib", "/var/lib"];

/** Returns true for the home or hidden files in it (keys, start-up files), directories of the system, and sockets, such as an engine's. */
export function exposesHost(source: string, home = os.homedir()): boolean {
	const [file, own] = [realPath(source), realPath(home)];
	if (isWithin(own, file) || isSocket(file)) return true;
	const isOwn = own !== "/" && isWithin(file, own); // also where the home is /root
	if (isOwn)
		return path
			.relative(own, file)
			.split("/")
			.some((name) => name.startsWith("."));
	return SYSTEM.some((dir) => isWithin(file, dir) || isWithin(dir, file));
}

export function isSocket(source: string): boolean {
	const file = realPath(source);
	return statIfThere(file)?.isSocket() === true || file.endsWith(".sock");
}

/** Returns true also if both are the same. */
export function isWithin(file: string, dir: string): boolean {
	const relative = path.relative(dir, file);
	return relative === "" || !(relative === ".." || relative.startsWith("../"));
}
