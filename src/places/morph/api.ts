/** The calls of MorphCloud that Holdfast uses. The key comes from MORPH_API_KEY, goes into a header, and nowhere else. */
import * as z from "zod";
import { type ErrorCode, errno, HoldfastError, ownEnvironment } from "../../base/index.js";

const BASE = "https://cloud.morph.so/api";
const ANSWER_MS = 30_000;

const INSTANCE = z.object({
	id: z.string().regex(/^[A-Za-z0-9][\w-]{0,199}$/),
	status: z.string(),
	created: z.number().default(0),
	metadata: z
		.record(z.string(), z.string())
		.nullish()
		.transform((value) => value ?? {}),
	refs: z.object({ snapshot_id: z.string().default("") }).default({ snapshot_id: "" }),
});
export type MorphInstance = z.output<typeof INSTANCE>;
const LIST = z.object({ data: z.array(INSTANCE) });
const KEY = z.object({ private_key: z.string().min(1), password: z.string().nullish() });
export type MorphKey = z.output<typeof KEY>;

/** The service refused the request. */
export class MorphRefusal extends HoldfastError {
	readonly status: number;

	constructor(status: number, code: ErrorCode, message: string) {
		super(code, message);
		this.status = status;
	}
}

export interface Morph {
	/** As a person would write it. */
	readonly base: string;
	readonly ssh: { readonly host: string; readonly port: number };
	list(metadata: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<readonly MorphInstance[]>;
	/** Returns undefined if there is none. */
	get(id: string, signal?: AbortSignal): Promise<MorphInstance | undefined>;
	boot(snapshot: string, body: object): Promise<MorphInstance>;
	resume(id: string, signal?: AbortSignal): Promise<void>;
	pause(id: string): Promise<void>;
	ttl(id: string, seconds: number, action: "pause" | "stop", signal?: AbortSignal): Promise<void>;
	/** Returns false if it was gone already. */
	stop(id: string): Promise<boolean>;
	key(id: string, signal?: AbortSignal): Promise<MorphKey>;
}

/** Opens the API. Throws if there is no key. */
export function openMorph(env: NodeJS.ProcessEnv = ownEnvironment()): Morph {
	const base = (env.MORPH_BASE_URL || BASE).replace(/\/+$/, "");
	const secret = env.MORPH_API_KEY;
	if (!secret)
		throw new HoldfastError(
			"DENIED",
			"there is no key for Morph here: set MORPH_API_KEY in the environment of the program that starts Holdfast. What runs goes on without it",
		);
	const call = async <T>(
		method: string,
		way: string,
		schema: z.ZodType<T>,
		{ body, signal }: { body?: object; signal?: AbortSignal | undefined } = {},
	): Promise<T> => {
		const time = AbortSignal.timeout(ANSWER_MS);
		let answer: Response;
		let text: string;
		try {
			answer = await fetch(`${base}${way}`, {
				method,
				headers: { authorization: `Bearer ${secret}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
				...(body === undefined ? {} : { body: JSON.stringify(body) }),
				signal: signal ? AbortSignal.any([signal, time]) : time,
				redirect: "error", // another server must not get the key
			});
			text = await answer.text();
		} catch (error) {
			if (signal?.aborted) throw new HoldfastError("ABORTED", "asking Morph was given up");
			const why = time.aborted ? `no answer within ${ANSWER_MS / 1000} s` : (errno((error as Error).cause) ?? (error as Error).message);
			throw new HoldfastError("UNREACHABLE", `Morph (${base}) cannot be reached (${why}); what runs goes on`, { cause: error });
		}
		if (!answer.ok) throw refusal(answer.status, text);
		try {
			return schema.parse(text === "" ? {} : JSON.parse(text));
		} catch (error) {
			throw new HoldfastError(
				"START_FAILED",
				`what Morph (${base}) answers to ${method} ${way.split("?")[0]} cannot be understood: ${JSON.stringify(text.slice(0, 100))}`,
				{ cause: error },
			);
		}
	};
	const orGone = async <T>(answer: Promise<T>): Promise<T | undefined> =>
		answer.catch((error) => (error instanceof MorphRefusal && error.status === 404 ? undefined : Promise.reject(error)));
	const at = (id: string, rest = "") => `/instance/${encodeURIComponent(id)}${rest}`;
	const anything = z.unknown();
	return {
		base,
		ssh: { host: env.MORPH_SSH_HOSTNAME || "ssh.cloud.morph.so", port: Number(env.MORPH_SSH_PORT) || 22 },
		list: async (metadata, signal) => {
			const query = new URLSearchParams(Object.entries(metadata).map(([name, value]) => [`metadata[${name}]`, value]));
			return (await call("GET", `/instance?${query}`, LIST, { signal })).data;
		},
		get: (id, signal) => orGone(call("GET", at(id), INSTANCE, { signal })),
		boot: (snapshot, body) =>
			call("POST", `/snapshot/${encodeURIComponent(snapshot)}/boot`, INSTANCE, { body }).catch((error) => {
				if (!(error instanceof MorphRefusal) || error.status !== 404) throw error;
				throw new HoldfastError("START_FAILED", `this account has no snapshot ${snapshot} at Morph; check its id`, { cause: error });
			}),
		resume: async (id, signal) => void (await call("POST", at(id, "/resume"), anything, { body: {}, signal })),
		pause: async (id) => void (await call("POST", at(id, "/pause"), anything, { body: {} })),
		ttl: async (id, seconds, action, signal) =>
			void (await call("POST", at(id, "/ttl"), anything, { body: { ttl_seconds: seconds, ttl_action: action }, signal })),
		stop: async (id) =>
			(await orGone(
				call(
					"DELETE",
					at(id),
					z.unknown().transform(() => true),
				),
			)) ?? false,
		key: (id, signal) => call("GET", at(id, "/ssh/key"), KEY, { signal }),
	};
}

function refusal(status: number, text: string): MorphRefusal {
	const words = detailIn(text);
	const say = (code: ErrorCode, advice: string) => new MorphRefusal(status, code, `${advice}${words ? ` (${words})` : ""}`);
	if (status === 401 || status === 403) return say("DENIED", "Morph does not accept MORPH_API_KEY; check it. What runs goes on");
	if (status === 402) return say("LIMIT", "Morph asks for payment: the account has nothing left");
	if (status === 429) return say("LIMIT", "a limit of the Morph account is reached; end other instances, or wait");
	if (status === 404) return say("UNREACHABLE", "the Morph instance was stopped meanwhile"); // the next attempt creates another
	if (status >= 500) return say("UNREACHABLE", `Morph cannot answer now (${status}); what runs goes on`);
	return say("START_FAILED", `Morph refuses (${status})`);
}

function detailIn(text: string): string {
	try {
		const { detail, message } = JSON.parse(text) as { detail?: unknown; message?: unknown };
		return (
			[detail, message]
				.find((one) => typeof one === "string")
				?.toString()
				.slice(0, 300) ?? ""
		);
	} catch {
		return text
			.replace(/[\0-\x1f\x7f-\x9f]+/g, " ")
			.trim()
			.slice(0, 100);
	}
}
