/** Starts the kept process of a sandbox: bubblewrap with its namespaces, what it shows of this machine, and the script that waits in it. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { ensureDir, errno, HoldfastError, ownEnvironment, removeDir, type SandboxSettings, utf8 } from "../base/index.js";
import { CAPABILITIES, INSIDE, noCapabilities, type SandboxTools, viewOf } from "../places/index.js";
import type { Process } from "./process.js";
import type { Runtime } from "./runtime.js";
import { digestsOf } from "./sandbox-settings.js";

interface SandboxRequest {
	/** The directory of all sandboxes of the home. */
	readonly root: string;
	readonly task: string;
	readonly settings: SandboxSettings;
	readonly tools: SandboxTools;
}

/** Returns the started process, which may not be ready yet, and the directory that it shares with this machine. */
export async function startSandbox(runtime: Runtime, { root, task, settings, tools }: SandboxRequest): Promise<{ made: Process; dir: string }> {
	const uid = process.getuid?.() ?? 0;
	const gid = process.getgid?.() ?? 0;
	let dir = "";
	let directory = "";
	const made = await runtime
		.spawn(
			{
				command: [tools.bwrap],
				cwd: "/",
				task,
				stdin: false,
				log: { limit: 64 * 1024 },
				env: Object.fromEntries(Object.keys(ownEnvironment()).map((name) => [name, undefined])),
			},
			{
				kind: "sandbox",
				// A function, since the directory is named after the id.
				command: (id) => {
					dir = path.join(root, id);
					ensureDir(path.join(dir, "shared"));
					const view = viewOf(settings, {
						cwd: runtime.settings.get(task)?.cwd ?? process.cwd(),
						home: runtime.home.root,
						shared: path.join(dir, "shared"),
					});
					directory = view.directory;
					const spaces = [
						"--unshare-user",
						"--uid",
						"0",
						"--gid",
						"0",
						"--unshare-pid",
						"--unshare-ipc",
						"--unshare-uts",
						...(settings.network ? [] : ["--unshare-net"]),
					];
					const holder = ["sh", `${INSIDE}/places/holder.sh`, "outer", String(uid), String(gid), "setpriv", "--no-new-privs", ...noCapabilities(), "--"];
					const argv = [
						...tools.keyless,
						tools.bwrap,
						...spaces,
						...view.arguments,
						"--cap-drop",
						"ALL",
						...CAPABILITIES,
						"--new-session",
						"--setenv",
						"PATH",
						"/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
						"--",
						...holder,
					];
					return { argv, view: { directory, network: settings.network, settings: digestsOf(settings) } };
				},
			},
		)
		.catch((error: unknown) => {
			if (dir) removeShared(dir);
			throw error;
		});
	return { made, dir };
}

/** Removes the files of an empty sandbox: no process is left to race with. Makes unreadable directories readable first; does not follow links. */
export function removeShared(dir: string): void {
	try {
		removeDir(dir);
	} catch (error) {
		if (errno(error) !== "EACCES" && errno(error) !== "EPERM") throw error;
		spawnSync("chmod", ["-R", "u+rwx", dir], { env: { PATH: "/usr/bin:/bin" } });
		removeDir(dir);
	}
}

export const firstLine = (process: Process): string => utf8(process.read(0, 4096).bytes).trim().split("\n")[0] || "it said nothing";

export const unavailable = (why: string): HoldfastError =>
	new HoldfastError("UNSUPPORTED", `nothing ran: there can be no sandbox: ${why}. \`holdfast doctor\` says more; without a sandbox use the place "local"`);
