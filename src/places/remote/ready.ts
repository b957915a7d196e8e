/** Prepares a remote machine for starts: looks up once per link what they need, and installs what is missing. */
import { HoldfastError, shellQuote } from "../../base/index.js";
import type { Tools } from "../../keeper/index.js";
import type { Link } from "../link/index.js";
import { installScript, ownScripts } from "./scripts.js";
import { toolsFrom } from "./tools.js";

export interface Ready {
	/** This home's own remote directory. */
	readonly directory: string;
	/** The directory of our scripts, one subdirectory per room. */
	readonly scripts: string;
	/** Where a new shell starts. */
	readonly cwd: string;
	readonly tools: Tools;
	/** The environment of a login. */
	readonly environment: Readonly<Record<string, string>>;
	readonly umask: number;
	/** For a container: its memory limit, and the file in which the kernel counts the processes killed for it. */
	readonly memory?: { readonly most: number; readonly counts: string };
}

/** A container's own cgroup as seen inside, in version 2 and 1: the limit, and the counts. */
const MEMORY = [
	["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.events"],
	["/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.oom_control"],
] as const;
const UNLIMITED = 2 ** 60; // roughly what version 1 reports for "none"

export interface MakeReady {
	/** Display name. */
	readonly name: string;
	/** Where a new shell starts, if the place says so. */
	readonly cwd: string | undefined;
	/** Called if our scripts were missing. */
	readonly onInstalled: (() => void) | undefined;
}

export async function makeReady(link: Link, { name, cwd, onInstalled }: MakeReady): Promise<Ready> {
	const { facts } = link;
	const scripts = `${facts.dir}/scripts/${ownScripts().name}`;
	const [answers, there] = await Promise.all([
		link.look([`/proc/${facts.pid}/environ`, ...MEMORY.flat()].map((path) => ({ ask: "content", path }))),
		link.run(`mkdir -p ${shellQuote(`${facts.dir}/scripts`)} ${shellQuote(`${facts.dir}/busy`)} && [ -d ${shellQuote(scripts)} ]`),
	]);
	if (there.status !== 0) {
		const installed = await link.run(installScript(scripts));
		if (installed.status !== 0) throw new HoldfastError("START_FAILED", `our scripts could not be put on ${name} (${installed.error || "a full disk?"})`);
		onInstalled?.();
	}
	const memory = MEMORY.map(([, counts], at) => ({
		most: Number(answers[1 + 2 * at] ?? Number.NaN),
		counts,
		counted: /^oom_kill \d/m.test(`${answers[2 + 2 * at]}`),
	}));
	const limited = memory.find(({ most, counted }) => counted && most < UNLIMITED);
	return {
		directory: facts.dir,
		scripts,
		cwd: cwd ?? facts.cwd,
		tools: toolsFrom(facts, scripts, name),
		environment: withoutLogin(variablesIn(answers[0]?.toString("utf8") ?? "")),
		umask: Number.parseInt(facts.umask, 8) || 0o022,
		...(limited ? { memory: { most: limited.most, counts: limited.counts } } : {}),
	};
}

/** Returns the remote directory of a process. */
export const directoryIn = ({ directory }: Ready, id: string): string => `${directory}/procs/${id.charAt(5)}/${id}`;

/** Returns the busy file of a process. While it exists, and the process named in it lives, a container does not end by itself. */
export const busyIn = ({ directory }: Ready, id: string): string => `${directory}/busy/${id}`;

/**
 * With these variables a new bash reads ~/.bashrc as if it were the login itself, and the output would contain what that prints. They also describe a
 * connection that may be gone.
 */
const withoutLogin = ({ SSH_CLIENT: _, SSH2_CLIENT: __, SSH_CONNECTION: ___, ...rest }: Record<string, string>): Record<string, string> => rest;

const variablesIn = (text: string): Record<string, string> =>
	Object.fromEntries(
		text
			.split("\0")
			.filter((line) => line.includes("="))
			.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
	);
