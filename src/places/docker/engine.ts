/** The engine: where it is, one call to it, and what its failures mean. dockerode is loaded when the first container is wanted. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type Docker from "dockerode";
import { errno, HoldfastError } from "../../base/errors.js";
import { lazy } from "../../base/lazy.js";

export interface Engine {
	readonly docker: Docker;
	/** As a person would write it. */
	readonly where: string;
	/** Paths of this machine are the engine's too. */
	readonly local: boolean;
	/** A call that is given up after a while; its failures are in words. */
	call<T>(doing: string, make: (abortSignal: AbortSignal) => Promise<T>, options?: CallOptions): Promise<T>;
}

export interface CallOptions {
	readonly signal?: AbortSignal | undefined;
	readonly ms?: number;
}

const PATIENCE_MS = 60_000;
const loadClient = lazy(() => import("dockerode"));

export async function openEngine(address: string | undefined, env: NodeJS.ProcessEnv = process.env): Promise<Engine> {
	const at = engineAddress(address, env);
	const { default: Client } = await loadClient();
	let docker: Docker;
	try {
		docker = new Client(at.options);
	} catch (error) {
		throw new HoldfastError("INVALID", `DOCKER_HOST cannot be used: ${(error as Error).message}`, { cause: error });
	}
	return {
		docker,
		where: at.where,
		local: at.socket !== undefined,
		call: async (doing, make, { signal, ms = PATIENCE_MS } = {}) => {
			// Not AbortSignal.timeout: the call may return a stream, which must outlive the call's time.
			const controller = new AbortController();
			const giveUp = () => controller.abort();
			const timer = setTimeout(giveUp, ms);
			signal?.addEventListener("abort", giveUp, { once: true });
			try {
				if (signal?.aborted) throw signal.reason;
				// Not every call of dockerode's heeds a signal.
				return await Promise.race([make(controller.signal), abortion(controller.signal)]);
			} catch (error) {
				if (signal?.aborted) throw new HoldfastError("ABORTED", `${doing}: given up`, { cause: error });
				if (controller.signal.aborted)
					throw new HoldfastError("UNREACHABLE", `${doing}: the Docker engine (${at.where}) did not answer within ${ms / 1000} s; see what it is doing`, {
						cause: error,
					});
				throw explained(error, doing, at);
			} finally {
				clearTimeout(timer);
				signal?.removeEventListener("abort", giveUp);
			}
		},
	};
}

const abortion = (signal: AbortSignal): Promise<never> =>
	new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("given up")), { once: true }));

/** The engine's answer to a call that failed; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
	const cause = error instanceof HoldfastError ? error.cause : error;
	const status = (cause as { statusCode?: unknown } | undefined)?.statusCode;
	return typeof status === "number" ? status : undefined;
}

/** What the engine itself wrote. */
export function reasonOf(error: unknown): string {
	const cause = error instanceof HoldfastError ? (error.cause ?? error) : error;
	const json = (cause as { json?: { message?: unknown } } | undefined)?.json;
	if (typeof json?.message === "string") return json.message.trim();
	const text = cause instanceof Error ? cause.message : String(cause);
	return text.replace(/^\(HTTP code \d+\) [^-]*- /, "").trim();
}

/** The same text for the same engine, as a person would write it. */
export const whereEngine = (address: string | undefined, env: NodeJS.ProcessEnv = process.env): string => engineAddress(address, env).where;

interface Address {
	readonly where: string;
	/** What to change in order to have another. */
	readonly other: string;
	readonly socket?: string;
	readonly options: Docker.DockerOptions;
}

function engineAddress(address: string | undefined, env: NodeJS.ProcessEnv): Address {
	const other = address === undefined ? "set DOCKER_HOST" : "give the place another `engine`";
	const given = address ?? (env.DOCKER_HOST || undefined);
	if (given === undefined || given === "unix://") return atSocket(defaultSocket(env), other);
	if (given.startsWith("unix://")) return atSocket(given.slice("unix://".length), other);
	let url: URL;
	try {
		url = new URL(given.includes("//") ? given : `tcp://${given}`);
	} catch {
		throw wrongAddress(given);
	}
	if (url.hostname === "" || !["tcp:", "http:", "https:", "ssh:"].includes(url.protocol)) throw wrongAddress(given);
	const where = `${url.protocol}//${url.protocol === "ssh:" && url.username ? `${url.username}@` : ""}${url.host}`;
	const port = url.port || (url.protocol === "ssh:" ? 22 : url.protocol === "https:" ? 2376 : 2375);
	if (url.protocol === "ssh:")
		return {
			where,
			other,
			options: { host: url.hostname, port, protocol: "ssh", username: decodeURIComponent(url.username), sshOptions: { agent: env.SSH_AUTH_SOCK } },
		};
	const tls = url.protocol === "https:" || env.DOCKER_TLS_VERIFY === "1" || String(port) === "2376";
	return { where, other, options: { host: url.hostname, port, protocol: tls ? "https" : "http", ...(tls && certificates(env)) } };
}

// An engine that DOCKER_HOST names must not get in between.
const atSocket = (socket: string, other: string): Address => ({
	where: `unix://${socket}`,
	other,
	socket,
	options: { socketPath: socket, host: undefined, protocol: "http" },
});

const wrongAddress = (given: string): HoldfastError =>
	new HoldfastError(
		"INVALID",
		`${JSON.stringify(given.slice(0, 200))} is not an engine; write unix:///var/run/docker.sock, tcp://HOST:PORT or ssh://USER@HOST`,
	);

/** Docker's own; Docker Desktop puts it in the home. */
function defaultSocket(env: NodeJS.ProcessEnv): string {
	const desktop = path.join(env.HOME || os.homedir(), ".docker/run/docker.sock");
	return fs.existsSync(desktop) ? desktop : "/var/run/docker.sock";
}

function certificates(env: NodeJS.ProcessEnv): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
	const dir = env.DOCKER_CERT_PATH;
	if (!dir) return {};
	const read = (name: string): Buffer => {
		try {
			return fs.readFileSync(path.join(dir, name));
		} catch (error) {
			throw new HoldfastError("INVALID", `DOCKER_CERT_PATH: ${(error as Error).message}`, { cause: error });
		}
	};
	return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}

function explained(error: unknown, doing: string, { where, socket, other }: Address): HoldfastError {
	if (error instanceof HoldfastError) return error;
	const say = (text: string, code: "START_FAILED" | "UNREACHABLE" = "START_FAILED") => new HoldfastError(code, `${doing}: ${text}`, { cause: error });
	const away = (text: string) => say(text, "UNREACHABLE"); // it may come back
	if (statusOf(error) !== undefined) return say(`the Docker engine says: ${reasonOf(error)}`);
	const name = os.userInfo().username;
	switch (errno(error)) {
		case "ENOENT":
			return say(`there is no Docker engine here (${socket ?? where} does not exist); install Docker and start it, or ${other}${otherEngine(socket)}`);
		case "EACCES":
		case "EPERM":
			return say(
				`this user may not use the Docker engine (${where}); add it to the group docker (sudo usermod -aG docker ${name}) and log in again, or ${other}`,
			);
		case "ECONNREFUSED":
			return away(`the Docker engine is not running (nobody listens at ${where}); start it (sudo systemctl start docker), or ${other}`);
		case "ECONNRESET":
		case "EPIPE":
			return away(`the connection to the Docker engine (${where}) broke; perhaps it is being restarted. Try again`);
		case "ENOTFOUND":
		case "EAI_AGAIN":
		case "EHOSTUNREACH":
		case "ENETUNREACH":
		case "ETIMEDOUT":
			return away(`the Docker engine at ${where} cannot be reached (${errno(error)}); check its address and the network`);
		default:
			return say(`the Docker engine at ${where}: ${reasonOf(error)}`);
	}
}

/** It is not used unless it is asked for. */
function otherEngine(socket: string | undefined): string {
	const user = process.env.XDG_RUNTIME_DIR ?? `/run/user/${process.getuid?.()}`;
	const found = [`${user}/docker.sock`, `${user}/podman/podman.sock`, "/run/podman/podman.sock"].find((file) => file !== socket && fs.existsSync(file));
	return found === undefined ? "" : `, for example to unix://${found}, which is there`;
}
