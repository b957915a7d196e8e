/** Derives the tools of a remote machine from the facts of its link. */
import { type Tools, toolsOf } from "../../keeper/index.js";
import type { Facts } from "../link/index.js";

/** `scripts`: the remote directory of ours. */
export function toolsFrom({ tools, can, machine }: Facts, scripts: string, name: string): Tools {
	const room = `${scripts}/keeper`;
	const found = toolsOf({
		find: (tool) => tools.get(tool),
		can: (what) => can[what],
		machine,
		lacks: (tool) => `${name} has no ${tool}; install it there (package coreutils or util-linux, or busybox)`,
		script: (file) => `${room}/${file}`,
	});
	return { ...found, scripts: room };
}
