/** The ssh client of this machine: its arguments, its environment, and one run of it. */
import { programEnvironment, type RunningChild, startChild } from "../child.js";
import { localPath, type SshSettings } from "./options.js";

export interface SshProgram {
	/** The machine, as an address; and the words that a person types behind `ssh` to log in. */
	readonly name: string;
	readonly login: string;
	readonly settings: SshSettings;
	/** The control socket. */
	readonly socket: string;
	readonly env: Record<string, string>;
	readonly idleSeconds: number;
}

/** The person's own, for agents and the like, without secrets: what it starts in the background can be looked at in /proc by every command of that user. */
export const clientEnvironment = (own?: NodeJS.ProcessEnv): Record<string, string> =>
	programEnvironment({ SSH_ASKPASS_REQUIRE: "never", SSH_ASKPASS: undefined, DISPLAY: undefined, WAYLAND_DISPLAY: undefined }, own);

/** Shared: through the common connection. Alone: one of its own, to find out what is wrong. */
export function clientArguments({ settings, socket, idleSeconds }: SshProgram, way: "shared" | "alone" = "shared"): string[] {
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
	// The first of each counts: the person's settings, then our defaults.
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

/** Resolves when it runs. */
export const runClient = (args: readonly string[], env: Record<string, string>): Promise<RunningChild> =>
	startChild({ name: "ssh", missing: MISSING, env }, args);
const MISSING = "install OpenSSH's, on Debian the package openssh-client";
