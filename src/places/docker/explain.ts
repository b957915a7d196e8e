/** Explains a failed call to the engine, and what the user can do about it. */
import fs from "node:fs";
import os from "node:os";
import { errno, HoldfastError } from "../../base/index.js";
import type { EngineAddress } from "./engine-address.js";
import { EngineRefusal, NotUnderstood } from "./request.js";

/** Returns the HTTP status of a failed call; undefined if the engine did not answer. */
export function statusOf(error: unknown): number | undefined {
	const cause = error instanceof HoldfastError ? error.cause : error;
	return cause instanceof EngineRefusal ? cause.statusCode : undefined;
}

/** Returns the engine's own message. */
export function reasonOf(error: unknown): string {
	const cause = error instanceof HoldfastError ? (error.cause ?? error) : error;
	return cause instanceof Error ? cause.message : String(cause);
}

/** Error codes of Node and OpenSSL for a certificate that is not accepted. */
const UNTRUSTED = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_ALTNAME)/;

export function explained(error: unknown, doing: string, { where, way, other }: EngineAddress): HoldfastError {
	if (error instanceof HoldfastError) return new HoldfastError(error.code, `${doing}: ${error.message}`, { cause: error });
	const say = (text: string, code: "START_FAILED" | "UNREACHABLE" = "START_FAILED") => new HoldfastError(code, `${doing}: ${text}`, { cause: error });
	const away = (text: string) => say(text, "UNREACHABLE"); // it may come back
	if (error instanceof EngineRefusal) {
		if (error.statusCode === 400 && error.message.includes("HTTP request to an HTTPS server"))
			return say(`the Docker engine at ${where} wants TLS; set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or ${other}`);
		return say(`the Docker engine says: ${error.message}`);
	}
	if (error instanceof NotUnderstood) return say(`the Docker engine at ${where} cannot be understood: ${error.message}; see whether it is one, or ${other}`);
	const code = errno(error) ?? "";
	if (code.startsWith("HPE_")) return say(`what answers at ${where} is not a Docker engine (${(error as Error).message}); correct the address, or ${other}`);
	if (UNTRUSTED.test(code))
		return say(
			`the certificate of the Docker engine at ${where} is not accepted (${(error as Error).message}); DOCKER_CERT_PATH has to name the directory with its ca.pem`,
		);
	if (/^ERR_SSL_.*(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)|^EPROTO$/.test(code) && way.kind === "tcp")
		return say(`the Docker engine at ${where} does not speak TLS (${code}); unset DOCKER_TLS_VERIFY, or correct the port`);
	if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_OSSL_"))
		return say(`the Docker engine at ${where} and this machine do not agree on TLS (${code}); see whether cert.pem and key.pem in DOCKER_CERT_PATH are for it`);
	switch (code) {
		case "ENOENT":
			return say(
				`there is no Docker engine here (${way.kind === "unix" ? way.socket : where} does not exist); install Docker and start it, or ${other}${otherEngine(way)}`,
			);
		case "EACCES":
		case "EPERM":
			return say(
				`this user may not use the Docker engine (${where}); add it to the group docker (sudo usermod -aG docker ${userName()}) and log in again, or ${other}`,
			);
		case "ECONNREFUSED":
			return away(`the Docker engine is not running (nothing listens at ${where}); start it (sudo systemctl start docker), or ${other}`);
		case "ECONNRESET":
		case "EPIPE":
			return away(`the connection to the Docker engine (${where}) broke; perhaps it is being restarted. Try again`);
		case "ENOTFOUND":
		case "EAI_AGAIN":
		case "EHOSTUNREACH":
		case "ENETUNREACH":
		case "ETIMEDOUT":
			return away(`the Docker engine at ${where} cannot be reached (${code}); check its address and the network`);
		default:
			return say(`the Docker engine at ${where}: ${reasonOf(error)}`);
	}
}

function userName(): string {
	try {
		return os.userInfo().username;
	} catch {
		return '"$USER"'; // a user without a passwd entry
	}
}

/** Returns a hint at another engine's socket, if one exists. Holdfast uses another engine only on request. */
function otherEngine(way: EngineAddress["way"]): string {
	const used = way.kind === "unix" ? way.socket : undefined;
	const user = process.env.XDG_RUNTIME_DIR ?? `/run/user/${process.getuid?.()}`;
	const found = [`${user}/docker.sock`, `${user}/podman/podman.sock`, "/run/podman/podman.sock"].find((file) => file !== used && fs.existsSync(file));
	return found === undefined ? "" : `, for example to unix://${found}, which is there`;
}
