/** The calls of Docker's Engine API that Holdfast uses, and the parts of their answers that it reads. https://docs.docker.com/reference/api/engine/ */
import type { Readable } from "node:stream";
import * as z from "zod";
import { bytes, type EngineCall, type EngineSocket, json, nothing, text } from "./request.js";

/** Newer engines omit empty values, and Podman writes null. */
const word = z
	.string()
	.nullish()
	.transform((value) => value ?? "");
const count = z
	.number()
	.nullish()
	.transform((value) => value ?? 0);
const flag = z
	.boolean()
	.nullish()
	.transform((value) => value ?? false);
const labels = z
	.record(z.string(), z.string())
	.nullish()
	.transform((value): Readonly<Record<string, string>> => value ?? {});

const INFO = z.object({
	Id: z.string().min(1),
	State: z.object({ Status: word, Running: flag, Paused: flag, Dead: flag, OOMKilled: flag, ExitCode: count, Error: word, StartedAt: word }),
	HostConfig: z.object({ Memory: count, NanoCpus: count, CpuQuota: count, PidsLimit: count }),
	Config: z.object({ Image: word, User: word, WorkingDir: word, Labels: labels }),
});
export type ContainerInfo = z.output<typeof INFO>;

const LISTED = z.object({
	Id: z.string(),
	Names: z
		.array(z.string())
		.nullish()
		.transform((names) => names ?? []),
	Image: word,
	Labels: labels,
	State: word,
	Status: word,
	Created: count,
});
const MADE = z.object({ Id: z.string().min(1) });
const EXEC = z.object({ Running: z.boolean(), ExitCode: z.number().nullish() });

const at = (container: string, rest = ""): string => `/containers/${encodeURIComponent(container)}${rest}`;

/** `container`: its id, or its name. */
export const containers = {
	list: (filters: object): EngineCall<z.output<typeof LISTED>[]> => ({
		method: "GET",
		path: "/containers/json",
		query: { all: true, filters: JSON.stringify(filters) },
		read: json(z.array(LISTED)),
	}),
	inspect: (container: string): EngineCall<ContainerInfo> => ({ method: "GET", path: at(container, "/json"), read: json(INFO) }),
	create: (name: string, body: object): EngineCall<{ Id: string }> => ({ method: "POST", path: "/containers/create", query: { name }, body, read: json(MADE) }),
	start: (container: string): EngineCall<void> => ({ method: "POST", path: at(container, "/start"), read: nothing }),
	unpause: (container: string): EngineCall<void> => ({ method: "POST", path: at(container, "/unpause"), read: nothing }),
	stop: (container: string, seconds: number): EngineCall<void> => ({ method: "POST", path: at(container, "/stop"), query: { t: seconds }, read: nothing }),
	/** Removes its anonymous volumes too. */
	remove: (container: string): EngineCall<void> => ({ method: "DELETE", path: at(container), query: { force: true, v: true }, read: nothing }),
	logs: (container: string, tail: number): EngineCall<Buffer> => ({
		method: "GET",
		path: at(container, "/logs"),
		query: { stdout: true, stderr: true, tail },
		read: bytes,
	}),
	/** Succeeds if the path exists. */
	stat: (container: string, path: string): EngineCall<void> => ({ method: "HEAD", path: at(container, "/archive"), query: { path }, read: nothing }),
	unpack: (container: string, path: string, archive: Buffer): EngineCall<void> => ({
		method: "PUT",
		path: at(container, "/archive"),
		query: { path },
		body: archive,
		read: nothing,
	}),
};

export const execs = {
	create: (container: string, body: object): EngineCall<{ Id: string }> => ({ method: "POST", path: at(container, "/exec"), body, read: json(MADE) }),
	start: (id: string): EngineCall<EngineSocket> => ({
		method: "POST",
		path: `/exec/${encodeURIComponent(id)}/start`,
		body: { Detach: false, Tty: false },
		upgrade: true,
		read: async ({ socket }) => socket as EngineSocket, // `send` has checked
	}),
	inspect: (id: string): EngineCall<z.output<typeof EXEC>> => ({ method: "GET", path: `/exec/${encodeURIComponent(id)}/json`, read: json(EXEC) }),
};

export const images = {
	inspect: (image: string): EngineCall<void> => ({ method: "GET", path: `/images/${image.split("/").map(encodeURIComponent).join("/")}/json`, read: nothing }),
	/** Streams one line of JSON per step. */
	pull: (image: string): EngineCall<Readable> => ({
		method: "POST",
		path: "/images/create",
		query: { fromImage: image },
		read: async ({ message }) => message,
	}),
};

/** Up to `until`, in seconds. */
export const events = (range: { since: number; until: number }, filters: object): EngineCall<string> => ({
	method: "GET",
	path: "/events",
	query: { ...range, filters: JSON.stringify(filters) },
	read: text,
});

/** Returns the version of the API that the engine speaks; "" when it does not say. */
export const ping: EngineCall<string> = {
	method: "GET",
	path: "/_ping",
	read: async (answer) => {
		await nothing(answer);
		const version = answer.message.headers["api-version"];
		return typeof version === "string" && /^\d{1,3}\.\d{1,4}$/.test(version) ? version : "";
	},
};
