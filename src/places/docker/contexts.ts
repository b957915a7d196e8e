/** Docker contexts: named engines, as `docker context` stores them. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as z from "zod";
import { HoldfastError } from "../../base/index.js";
import { type Certificates, readCertificates } from "./certificates.js";

export interface EngineContext {
	readonly name: string;
	readonly host: string;
	readonly tls?: Certificates;
}

export const dockerConfigDir = (env: NodeJS.ProcessEnv): string => env.DOCKER_CONFIG || path.join(env.HOME || os.homedir(), ".docker");

/** Returns the context that DOCKER_CONTEXT or `docker context use` selects; undefined for the default one. */
export function selectedContext(env: NodeJS.ProcessEnv): EngineContext | undefined {
	const dir = dockerConfigDir(env);
	const name = env.DOCKER_CONTEXT || currentContext(path.join(dir, "config.json"));
	if (name === undefined || name === "" || name === "default") return undefined;
	const id = createHash("sha256").update(name).digest("hex");
	const refuse = (why: string, cause?: unknown): never => {
		const from = env.DOCKER_CONTEXT ? "DOCKER_CONTEXT" : path.join(dir, "config.json");
		throw new HoldfastError("INVALID", `the Docker context ${JSON.stringify(name)} (of ${from}) ${why}; see docker context ls, or set DOCKER_HOST`, { cause });
	};
	let text: string;
	try {
		text = fs.readFileSync(path.join(dir, "contexts/meta", id, "meta.json"), "utf8");
	} catch (error) {
		return refuse(`cannot be read (${(error as Error).message})`, error);
	}
	const meta = META.safeParse(parsed(text));
	if (!meta.success) return refuse("names no Docker engine");
	const { Host: host, SkipTLSVerify: unverified } = meta.data.Endpoints.docker;
	const found = readCertificates(path.join(dir, "contexts/tls", id, "docker"), { optional: true });
	const tls = found || unverified ? { ...found, ...(unverified && { rejectUnauthorized: false }) } : undefined;
	return { name, host, ...(tls && { tls }) };
}

const META = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string().min(1), SkipTLSVerify: z.boolean().nullish() }) }) });
const CONFIG = z.object({ currentContext: z.string().optional() });

/** Returns the current context. An unreadable or invalid file selects nothing, as for the docker command. */
function currentContext(file: string): string | undefined {
	try {
		return CONFIG.safeParse(parsed(fs.readFileSync(file, "utf8"))).data?.currentContext;
	} catch {
		return undefined;
	}
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
