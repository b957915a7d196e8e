/** The gateway as a service of the user's systemd. `KillMode=process`: systemd ends the gateway alone, never what it has started. */
import { execFile } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { AgentError, ensureDir, readIfThere, writeWhole } from "../base/index.js";

export const UNIT = "holdfast-agent-gateway.service";

export interface ServiceOptions {
	/** The program, and what it is started with: node and main.js. */
	readonly command: readonly string[];
	/** The start directory of conversations' shells. */
	readonly cwd: string;
	/** Variables that the service is to have: homes that are not where they are by default. */
	readonly env: Readonly<Record<string, string>>;
}

export function unitText({ command, cwd, env }: ServiceOptions): string {
	return [
		"[Unit]",
		"Description=holdfast-agent gateway: the agent in chat platforms",
		"After=network-online.target",
		"Wants=network-online.target",
		"StartLimitIntervalSec=0",
		"",
		"[Service]",
		"Type=notify",
		"NotifyAccess=all",
		`ExecStart=${[...command, "gateway"].map(quoted).join(" ")}`,
		`WorkingDirectory=${escaped(cwd)}`,
		...Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
		"# Only the gateway is ended: commands, servers and their keepers go on.",
		"KillMode=process",
		"Restart=always",
		"RestartSec=2",
		"# Another gateway has the account, or the settings cannot be used: trying again changes nothing.",
		"RestartPreventExitStatus=2 78",
		"TimeoutStopSec=30",
		"",
		"[Install]",
		"WantedBy=default.target",
		"",
	].join("\n");
}

/** `%` begins a specifier of systemd. */
const escaped = (text: string): string => text.replaceAll("%", "%%");
const quoted = (text: string): string => {
	const safe = escaped(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("$", "$$$$");
	return /^[\w@%+=:,./-]+$/.test(text) ? safe : `"${safe}"`;
};

export function unitFile(env: NodeJS.ProcessEnv = process.env): string {
	const config = env.XDG_CONFIG_HOME && path.isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : path.join(env.HOME || os.homedir(), ".config");
	return path.join(config, "systemd", "user", UNIT);
}

/** Returns the installed unit; undefined: none. */
export const installedUnit = (file = unitFile()): string | undefined => readIfThere(file)?.toString("utf8");

export function writeUnit(text: string, file = unitFile()): string {
	ensureDir(path.dirname(file));
	writeWhole(file, text);
	return file;
}

/** Tells systemd of it, and starts it now and at every login. */
export async function enableUnit(): Promise<void> {
	const run = promisify(execFile);
	try {
		await run("systemctl", ["--user", "daemon-reload"]);
		await run("systemctl", ["--user", "enable", "--now", UNIT]);
	} catch (cause) {
		const said = (cause as { stderr?: string }).stderr?.trim().split("\n")[0] ?? String(cause);
		throw new AgentError("UNSUPPORTED", `systemd did not take it (${said}); start it yourself: systemctl --user enable --now ${UNIT}`, { cause });
	}
}

/** Tells systemd how it is, if it has started us. Without the program that does it, systemd waits in vain, which is said. */
export async function notifyReady(status: string, env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
	if (!env.NOTIFY_SOCKET) return undefined;
	try {
		await promisify(execFile)("systemd-notify", ["--ready", `--status=${status}`], { timeout: 10_000 });
		return undefined;
	} catch (error) {
		return `systemd could not be told that the gateway runs (${error instanceof Error ? error.message.split("\n")[0] : error}); install systemd-notify, or remove Type=notify from the unit`;
	}
}
