/** The three files for TLS with an engine: `ca.pem`, `cert.pem`, `key.pem`. */
import fs from "node:fs";
import path from "node:path";
import { errno, HoldfastError } from "../../base/index.js";

export interface Certificates {
	readonly ca?: Buffer;
	readonly cert?: Buffer;
	readonly key?: Buffer;
	readonly rejectUnauthorized?: boolean;
}

/** Reads the certificates. `optional`: returns those that exist, undefined if none do. Otherwise throws if one is missing. */
export function readCertificates(dir: string, { optional }: { optional: boolean }): Certificates | undefined {
	const read = (name: string): Buffer | undefined => {
		try {
			return fs.readFileSync(path.join(dir, `${name}.pem`));
		} catch (error) {
			if (optional && errno(error) === "ENOENT") return undefined;
			throw new HoldfastError("INVALID", `the TLS files of the Docker engine cannot be read: ${(error as Error).message}; see DOCKER_CERT_PATH`, {
				cause: error,
			});
		}
	};
	const found = Object.entries({ ca: read("ca"), cert: read("cert"), key: read("key") }).filter(([, bytes]) => bytes !== undefined);
	return found.length === 0 ? undefined : Object.fromEntries(found);
}
