/** The API of a trainer of Atropos, as far as an environment uses it: JSON over HTTP, without a key, and with a body also in a GET, which `fetch` does not send. */
import http from "node:http";
import https from "node:https";
import { AgentError } from "../../base/index.js";

const ANSWER_MS = 60_000;
const SHOWN = 300;

/** The trainer has answered, and not taken it. */
export class RefusedError extends Error {
	override readonly name = "RefusedError";
	constructor(
		readonly status: number,
		text: string,
	) {
		super(`${status}: ${text.slice(0, SHOWN)}`);
	}
}

export type TrainerAnswer = Readonly<Record<string, unknown>>;

export class Trainer {
	readonly #url: URL;

	constructor(url: string) {
		if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
			throw new AgentError("INVALID", `"${url}" is no address of a trainer; give one such as http://localhost:8000`);
		this.#url = new URL(url.replace(/\/+$/, ""));
	}

	/** Rejects with `RefusedError` if the trainer says no; with another error if it is not known whether it has taken it. */
	ask(method: "GET" | "POST", path: string, body?: unknown, signal?: AbortSignal): Promise<TrainerAnswer> {
		const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
		const { request } = this.#url.protocol === "https:" ? https : http;
		return new Promise((resolve, reject) => {
			const asking = request(
				{
					...{
						method,
						hostname: this.#url.hostname.replace(/^\[|\]$/g, ""),
						port: this.#url.port,
						path: `${this.#url.pathname.replace(/\/$/, "")}${path}`,
						timeout: ANSWER_MS,
						agent: false,
					},
					...(signal ? { signal } : {}),
					headers: data ? { "content-type": "application/json", "content-length": data.length } : {},
				},
				(response) => {
					let text = "";
					response.setEncoding("utf8").on("data", (piece: string) => {
						text += piece;
					});
					response.on("error", reject).on("end", () => {
						const status = response.statusCode ?? 0;
						if (status >= 400) return reject(new RefusedError(status, text));
						const value = parsed(text);
						if (value) resolve(value);
						else reject(new RefusedError(status, `no JSON: ${text}`));
					});
				},
			);
			asking.on("timeout", () => asking.destroy(new Error(`no answer within ${ANSWER_MS / 1_000} s`))).on("error", reject);
			asking.end(data);
		});
	}
}

function parsed(text: string): TrainerAnswer | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null ? (value as TrainerAnswer) : undefined;
	} catch {
		return undefined;
	}
}
