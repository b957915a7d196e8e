/** Modal's own library. It is not a dependency, since it is as large as this package: users of Modal install it separately. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { ModalClient } from "modal";
import { errno, HoldfastError, ownEnvironment } from "../../base/index.js";
import { giveUp } from "./calls.js";
import { explained } from "./words.js";

/** The exact version: npm's latest `modal` is an unrelated package. */
export const LIBRARY = "modal@0.11.1";

const clients = new Map<string, ModalClient>();

/**
 * Returns the client for an environment of Modal, with the token of Modal's own variables and files. Connects to nothing. Throws, with what to do, if
 * the library is missing.
 */
export async function modalClient(environment?: string): Promise<ModalClient> {
	const { ModalClient } = await loadLibrary();
	const own = Object.entries(ownEnvironment()).filter(([name]) => name.startsWith("MODAL_"));
	const key = JSON.stringify([environment, ...own.sort()]);
	const known = clients.get(key);
	if (known) return known;
	const made = withVariables(own, () => {
		try {
			return new ModalClient({ logger: SILENT, grpcMiddleware: [giveUp], ...(environment === undefined ? {} : { environment }) });
		} catch (error) {
			throw explained("Modal's settings cannot be used", error);
		}
	});
	clients.set(key, made);
	return made;
}

async function loadLibrary(): Promise<typeof import("modal")> {
	let library: typeof import("modal");
	try {
		library = await import("modal");
	} catch (error) {
		if (errno(error) === "ERR_MODULE_NOT_FOUND")
			throw new HoldfastError("UNSUPPORTED", `Modal's library is not installed; ${howToInstall()}`, { cause: error });
		throw new HoldfastError("UNSUPPORTED", `Modal's library cannot be loaded (${(error as Error).message}); ${howToInstall()}`, { cause: error });
	}
	if (typeof library.ModalClient !== "function")
		throw new HoldfastError("UNSUPPORTED", `the package "modal" that is installed is not Modal's library; ${howToInstall()}`);
	if (!("from" in ReadableStream)) throw new HoldfastError("UNSUPPORTED", "Modal's library needs Node.js 20.6 or newer");
	return library;
}

/** Returns the command that installs the library. `file`: one of ours, wherever the package is installed. */
export function howToInstall(file = fileURLToPath(import.meta.url)): string {
	const [before, ...behind] = file.split("/node_modules/");
	if (behind.length === 0 || before === undefined) return `run: npm install ${LIBRARY}`;
	return path.basename(before) === "lib" ? `run: npm install -g ${LIBRARY}` : `run in ${before}: npm install ${LIBRARY}`;
}

/**
 * The library reads variables when a client is created. Our own programs have removed secrets from the environment: this restores them for that
 * moment, in which nothing else runs.
 */
function withVariables<T>(variables: readonly (readonly [string, string | undefined])[], make: () => T): T {
	const hidden = variables.filter(([name, value]) => value !== undefined && process.env[name] === undefined);
	for (const [name, value] of hidden) process.env[name] = value;
	try {
		return make();
	} finally {
		for (const [name] of hidden) delete process.env[name];
	}
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
