/** Which tools a box on the other side of a link has: what keeper/tools.ts finds out here, from what the link has said. */
import { HoldfastError } from "../../base/errors.js";
import type { Tools } from "../../keeper/tools.js";
import type { Facts } from "../link/index.js";

const PRCTL: Readonly<Record<string, number>> = { x86_64: 157, aarch64: 167, riscv64: 167, ppc64le: 171, s390x: 172, i686: 172, armv7l: 172 };

/** `scripts`: where ours are there. */
export function toolsFrom(facts: Facts, scripts: string, name: string): Tools {
	const find = (tool: string) => facts.tools.get(tool);
	const need = (tool: string): string => {
		const file = find(tool);
		if (!file) throw new HoldfastError("UNSUPPORTED", `${name} has no ${tool}; install it there (package coreutils or util-linux, or busybox)`);
		return file;
	};
	const perl = find("perl");
	const prctl = PRCTL[facts.machine];
	return {
		sh: need("sh"),
		dd: need("dd"),
		rm: need("rm"),
		sleep: need("sleep"),
		setsid: need("setsid"),
		mkfifo: need("mkfifo"),
		stty: find("stty") ?? "",
		bash: find("bash"),
		fallocate: facts.can.fallocate ? find("fallocate") : undefined,
		df: find("df"),
		pty: find("stty") ? ptyOf(facts, `${scripts}/keeper`) : undefined,
		subreaper: perl && prctl ? [perl, "-e", "syscall(shift() + 0, 36, 1, 0, 0, 0); exec @ARGV", String(prctl)] : undefined,
		scripts: `${scripts}/keeper`,
	};
}

function ptyOf({ tools, can }: Facts, scripts: string): Tools["pty"] {
	const [script, python, perl] = [tools.get("script"), tools.get("python3"), tools.get("perl")];
	if (script && can.script) return { name: "script", program: script, relay: "script" };
	if (python) return { name: "python3", program: python, relay: `${scripts}/pty.py` };
	if (perl) return { name: "perl", program: perl, relay: `${scripts}/pty.pl` };
	return undefined;
}
