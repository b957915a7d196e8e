/** Finds the engine as the docker command does: the place's own `engine`, DOCKER_HOST, the selected context, the usual socket. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import { formatSshAddress, parseSshAddress, type SshOptions } from "../ssh/index.js";
import { type Certificates, readCertificates } from "./certificates.js";
import { dockerConfigDir, selectedContext } from "./contexts.js";

export interface EngineAddress {
	/** As a person would write it; the same text for the same engine. */
	readonly where: string;
	/** The setting to change for another engine. */
	readonly other: string;
	readonly way: Way;
}

export type Way =
	| { readonly kind: "unix"; readonly socket: string }
	| { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly tls?: Certificates }
	/** `socket`: the engine's socket on that machine, instead of the usual one. */
	| { readonly kind: "ssh"; readonly machine: SshOptions; readonly socket?: string };

export function engineAddress(address: string | undefined, env: NodeJS.ProcessEnv): EngineAddress {
	if (address !== undefined) return parse(address, "give the place another `engine`", env);
	if (env.DOCKER_HOST) return parse(env.DOCKER_HOST, "set DOCKER_HOST", env);
	const context = selectedContext(env);
	if (context === undefined) return atSocket(usualSocket(env), "set DOCKER_HOST");
	return parse(context.host, `set DOCKER_HOST (the Docker context ${JSON.stringify(context.name)} is used)`, env, { tls: context.tls });
}

/** Parses an address. `context`: use its certificates, not those of the environment. */
function parse(given: string, other: string, env: NodeJS.ProcessEnv, context?: { readonly tls: Certificates | undefined }): EngineAddress {
	if (given === "unix://") return atSocket(usualSocket(env), other);
	if (given.startsWith("unix://")) return atSocket(given.slice("unix://".length), other);
	if (given.startsWith("ssh://")) return overSsh(given, other);
	let url: URL;
	try {
		url = new URL(given.includes("//") ? given : `tcp://${given}`);
	} catch {
		throw wrongAddress(given);
	}
	if (url.hostname === "" || !["tcp:", "http:", "https:"].includes(url.protocol)) throw wrongAddress(given);
	if (!["", "/"].includes(url.pathname) || url.search || url.username || url.password) throw wrongAddress(`${url.protocol}//${url.host}${url.pathname}…`);
	const port = Number(url.port) || (url.protocol === "https:" ? 2376 : 2375);
	const verify = context === undefined && Boolean(env.DOCKER_TLS_VERIFY);
	const secure = url.protocol === "https:" || port === 2376 || verify || context?.tls !== undefined;
	const tls = secure ? { tls: (context ? context.tls : certificates(env)) ?? {} } : {};
	return { where: `${url.protocol}//${url.host}`, other, way: { kind: "tcp", host: url.hostname.replace(/^\[|\]$/g, ""), port, ...tls } };
}

const atSocket = (socket: string, other: string): EngineAddress => ({ where: `unix://${socket}`, other, way: { kind: "unix", socket } });

function overSsh(given: string, other: string): EngineAddress {
	const { dir: socket, ...machine } = parseSshAddress(given);
	if (socket !== undefined && !socket.startsWith("/")) throw wrongAddress(given);
	const where = formatSshAddress({ ...machine, dir: socket });
	return { where, other, way: { kind: "ssh", machine, ...(socket !== undefined && { socket }) } };
}

const wrongAddress = (given: string): HoldfastError =>
	new HoldfastError(
		"INVALID",
		`${JSON.stringify(given.slice(0, 200))} is not an engine; write unix:///var/run/docker.sock, tcp://HOST:PORT or ssh://USER@HOST`,
	);

/** Returns Docker's socket; Docker Desktop puts it in the home. */
function usualSocket(env: NodeJS.ProcessEnv): string {
	const desktop = path.join(env.HOME || os.homedir(), ".docker/run/docker.sock");
	return fs.existsSync(desktop) ? desktop : "/var/run/docker.sock";
}

const certificates = (env: NodeJS.ProcessEnv): Certificates | undefined =>
	env.DOCKER_CERT_PATH ? readCertificates(env.DOCKER_CERT_PATH, { optional: false }) : readCertificates(dockerConfigDir(env), { optional: true });
