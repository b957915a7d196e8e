/** The ssh client of this machine: its arguments, its environment, and one run of it. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { childEnvironment } from "../../base/environment.js";
import { errno, HoldfastError } from "../../base/errors.js";
import { onlyThese } from "../../base/inherited.js";
import { ownEnvironment } from "../../base/own-secrets.js";
import { localPath, type SshSettings } from "./options.js";

const KEPT_BYTES = 4_096;

export interface Client {
	/** The machine, as an address; and what a person types behind `ssh` to get there. */
	readonly name: string;
	readonly login: string;
	readonly settings: SshSettings;
	/** The control socket. */
	readonly socket: string;
	readonly env: Record<string, string>;
	readonly idleSeconds: number;
}

/** The person's own, for agents and the like, without secrets: what it starts in the background can be looked at in /proc by every command of that user. */
export const clientEnvironment = (own: NodeJS.ProcessEnv = ownEnvironment()): Record<string, string> =>
	childEnvironment(own, { SSH_ASKPASS_REQUIRE: "never", SSH_ASKPASS: undefined, DISPLAY: undefined, WAYLAND_DISPLAY: undefined });

/** Shared: through the common connection. Alone: one of its own, to find out what is wrong. */
export function clientArguments({ settings, socket, idleSeconds }: Client, way: "shared" | "alone" = "shared"): string[] {
	const { options = {}, configFile, identityFile, user, port, connectTimeout } = settings;
	const fixed = {
		BatchMode: "yes",
		NumberOfPasswordPrompts: "0",
		RemoteCommand: "none",
		ClearAllForwardings: "yes",
		LogLevel: "ERROR", // no banners, whatever the configuration says
		ConnectTimeout: String(connectTimeout),
		...(way === "shared" ? { ControlMaster: "auto", ControlPersist: String(idleSeconds) } : { ControlMaster: "no" }),
	};
	// The first of each counts: what the person has set, then what is only a default here.
	const defaults = { ServerAliveInterval: "15", ServerAliveCountMax: "2", ...(identityFile === undefined ? {} : { IdentitiesOnly: "yes" }) };
	return [
		...(configFile === undefined ? [] : ["-F", localPath(configFile)]),
		...[fixed, options, defaults].flatMap((set) => Object.entries(set).flatMap(([name, value]) => ["-o", `${name}=${value}`])),
		...["-T", "-x", "-S", way === "shared" ? socket.replaceAll("%", "%%") : "none"],
		...(user === undefined ? [] : ["-l", user]),
		...(port === undefined ? [] : ["-p", String(port)]),
		...(identityFile === undefined ? [] : ["-i", localPath(identityFile).replaceAll("%", "%%")]),
	];
}

export interface Run {
	readonly child: ChildProcessWithoutNullStreams;
	/** The last of what ssh itself, or the command there, has said on stderr. */
	said(): string;
	/** Its exit code; null when a signal ended it. Never rejects. */
	readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/** Resolves when it runs. In a session of its own: there is no terminal to ask at, and no Ctrl-C reaches it. */
export async function runClient(args: readonly string[], env: Record<string, string>): Promise<Run> {
	let child: ChildProcessWithoutNullStreams;
	try {
		child = spawn("ssh", args, { env, cwd: "/", detached: true, stdio: onlyThese("pipe", "pipe", "pipe") }) as ChildProcessWithoutNullStreams;
		child.stdin.on("error", () => {}); // it has ended; that is told by its exit
		child.stdout.on("error", () => {});
		child.stderr.on("error", () => {});
		await once(child, "spawn");
	} catch (error) {
		throw cannotRun(error);
	}
	let kept = Buffer.alloc(0);
	child.stderr.on("data", (bytes: Buffer) => {
		kept = Buffer.concat([kept, bytes]).subarray(-KEPT_BYTES);
	});
	const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
		child.once("exit", (code, signal) => {
			// stderr has a moment to arrive; the connection in the background may have it open for longer.
			const tell = () => resolve({ code, signal });
			const late = setTimeout(() => {
				child.stderr.destroy(); // or it keeps this program alive for as long as a command there hangs
				tell();
			}, 250);
			child.stderr.once("close", () => {
				clearTimeout(late);
				tell();
			});
		});
	});
	return { child, said: () => kept.toString("utf8"), exit };
}

function cannotRun(error: unknown): HoldfastError {
	if (errno(error) === "ENOENT")
		return new HoldfastError(
			"UNSUPPORTED",
			"there is no ssh client on this machine (no `ssh` in PATH); install OpenSSH's, on Debian the package openssh-client",
			{
				cause: error,
			},
		);
	if (errno(error) === "E2BIG") return new HoldfastError("INVALID", "the command is too long to be given to ssh; write it to a file there", { cause: error });
	if (errno(error) === "ERR_INVALID_ARG_VALUE") return new HoldfastError("INVALID", "a command cannot contain a NUL byte", { cause: error });
	if (errno(error) === "EMFILE" || errno(error) === "EAGAIN")
		return new HoldfastError("NO_FILES", "ssh cannot be started: too many files are open or processes running; close something, then try again", {
			cause: error,
		});
	return new HoldfastError("START_FAILED", `ssh cannot be started (${(error as Error).message})`, { cause: error });
}
