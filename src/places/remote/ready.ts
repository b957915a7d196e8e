/** What a start on a remote machine needs: looked up once per link, and installed if it is missing. */
import { HoldfastError, shellQuote } from "../../base/index.js";
import type { Tools } from "../../keeper/index.js";
import type { Link } from "../link/index.js";
import { installScript, ownScripts } from "./scripts.js";
import { toolsFrom } from "./tools.js";

export interface Ready {
	/** This home's own directory there. */
	readonly directory: string;
	/** Where our scripts are, a directory for each room. */
	readonly scripts: string;
	/** Where a new shell starts. */
	readonly cwd: string;
	readonly tools: Tools;
	/** That of a login. */
	readonly environment: Readonly<Record<string, string>>;
	readonly umask: number;
	/** Of a container: how much memory all in it may use, and where the kernel counts the processes that it killed for that. */
	readonly memory?: { readonly most: number; readonly counts: string };
}

/** As a container sees its own control group, in version 2 and 1: what it may use, and the counts. */
const MEMORY = [
	["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.events"],
	["/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.oom_control"],
] as const;
const UNLIMITED = 2 ** 60; // what version 1 has for "none", more or less

export interface MakeReady {
	/** As people call it. */
	readonly name: string;
	/** Where a new shell is to start, if the place says so. */
	readonly cwd: string | undefined;
	/** Our scripts were not there. */
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

/** As long as this file is there, with who has to be alive for it, a container does not end by itself. */
export const busyIn = ({ directory }: Ready, id: string): string => `${directory}/busy/${id}`;

/** With these a bash that is started reads ~/.bashrc, as if it were the login itself, and what that prints would be in the output. They are about a connection that may be gone, too. */
const withoutLogin = ({ SSH_CLIENT: _, SSH2_CLIENT: __, SSH_CONNECTION: ___, ...rest }: Record<string, string>): Record<string, string> => rest;

const variablesIn = (text: string): Record<string, string> =>
	Object.fromEntries(
		text
			.split("\0")
			.filter((line) => line.includes("="))
			.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
	);
