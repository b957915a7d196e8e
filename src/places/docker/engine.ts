/** The engine: one call at a time with a time limit and the caller's signal; negotiation of the API version; explanation of failures. */
import { HoldfastError } from "../../base/index.js";
import type { Near } from "../ssh/index.js";
import { ping } from "./api.js";
import { connectionsTo } from "./connections.js";
import { engineAddress } from "./engine-address.js";
import { explained } from "./explain.js";
import { type EngineCall, EngineRefusal, type Sending, send } from "./request.js";

export interface Engine {
	/** As a person would write it. */
	readonly where: string;
	/** The engine sees the paths of this machine. */
	readonly local: boolean;
	/** Calls the engine. `doing` begins the text of a failure. A returned stream outlives the time limit and the signal. */
	call<T>(doing: string, call: EngineCall<T>, options?: CallOptions): Promise<T>;
}

export interface CallOptions {
	readonly signal?: AbortSignal | undefined;
	/** Time limit of the call. */
	readonly ms?: number;
}

const PATIENCE_MS = 60_000;

/** The newest API version whose answers are known, and the oldest with every call we make (Docker 1.13). */
const NEWEST = "1.44";
const OLDEST = "1.25";

/** Opens an engine. `near`: for an engine over ssh. */
export function openEngine(address: string | undefined, near: Near = {}): Engine {
	const env = near.env ?? process.env;
	const at = engineAddress(address, env);
	const agent = connectionsTo(at.way, near);
	let version: string | undefined = env.DOCKER_API_VERSION?.replace(/^v/, "") || undefined;

	const negotiated = async (signal: AbortSignal): Promise<string> => {
		// If an engine refuses this, asks without a version; its answer to the real request tells more.
		const theirs = await send(ping, { agent, version: "", signal }).catch((error) => (error instanceof EngineRefusal ? "" : Promise.reject(error)));
		if (theirs !== "" && older(theirs, OLDEST))
			throw new HoldfastError(
				"UNSUPPORTED",
				`the Docker engine (${at.where}) speaks version ${theirs} of its API, and ${OLDEST} is the oldest that Holdfast can use; update Docker there (1.13 or newer), or ${at.other}`,
			);
		return theirs === "" || older(theirs, NEWEST) ? theirs : NEWEST;
	};
	const sent = async <T>(call: EngineCall<T>, signal: AbortSignal): Promise<T> => {
		version ??= await negotiated(signal);
		const sending: Sending = { agent, version, signal };
		try {
			return await send(call, sending);
		} catch (error) {
			// Another engine has replaced it, or it speaks only newer versions: it names the nearest.
			const nearest = error instanceof EngineRefusal && /client version \S+ is too (?:old|new).*?API version is (\d+\.\d+)/.exec(error.message)?.[1];
			if (!nearest || nearest === version || env.DOCKER_API_VERSION) throw error;
			version = nearest;
			return await send(call, { ...sending, version });
		}
	};

	return {
		where: at.where,
		local: at.way.kind === "unix",
		call: async (doing, call, { signal, ms = PATIENCE_MS } = {}) => {
			// Not AbortSignal.timeout: the call may return a stream, which must outlive the call's time limit.
			const controller = new AbortController();
			const giveUp = () => controller.abort();
			const timer = setTimeout(giveUp, ms);
			signal?.addEventListener("abort", giveUp, { once: true });
			try {
				if (signal?.aborted) throw signal.reason;
				return await sent(call, controller.signal);
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

/** Returns the engine's address as a person would write it; the same text for the same engine. */
export const whereEngine = (address: string | undefined, env: NodeJS.ProcessEnv = process.env): string => engineAddress(address, env).where;

function older(a: string, b: string): boolean {
	const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [a.split(".").map(Number), b.split(".").map(Number)] as [number[], number[]];
	return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
