/** Tells the kind of a failure from the status, the headers and the body of a response, or from an error event in a stream. */
import { list, number, object, parsed, text } from "./json.js";
import { ModelError, type ModelFailure } from "./model.js";
import { isOverflow } from "./overflow.js";
import { bodyDelay, headerDelay } from "./retry-after.js";

export interface FailedResponse {
	/** The endpoint, as a person knows it. */
	readonly host: string;
	readonly status: number;
	readonly headers: Headers;
	readonly body: string;
	readonly now: number;
	/** The request is near the size of the window: an answer without words may mean that. */
	readonly long: boolean;
}

export function responseError(failed: FailedResponse): ModelError {
	const { host, status, headers, body, now, long } = failed;
	const { said, codes } = wordsOf(body);
	const wait = headerDelay(headers, now) ?? bodyDelay(body);
	const kind = kindOf(status, said, codes, { empty: body.trim() === "", long, wait: wait !== undefined });
	const words = said === "" ? "" : `: ${said}`;
	return new ModelError(kind, `${host} answered ${status}${words}${advice(kind, status, codes, said)}`, {
		status,
		...(wait === undefined ? {} : { retryAfterMs: wait }),
	});
}

/** An error in the middle of a stream, in any of the formats. `said` is the text of the answer so far. */
export function eventError(value: unknown, saidSoFar: string): ModelError {
	const { said, codes } = wordsOf(JSON.stringify({ error: value }));
	const status = codes.map(Number).find((code) => code >= 400 && code < 600) ?? STATUS_OF.find(([words]) => words.test(codes.join(" ")))?.[1] ?? 500;
	const kind = kindOf(status, said, codes, { empty: false, long: false, wait: false });
	return new ModelError(kind, `the endpoint broke off the answer: ${said || "it gives no reason"}${advice(kind, status, codes, said)}`, {
		text: saidSoFar,
		inStream: true,
	});
}

/** Names of errors in streams, which have no status. */
const STATUS_OF: readonly (readonly [RegExp, number])[] = [
	[/rate_limit|too_many_requests|resource_exhausted/i, 429],
	[/authentication|invalid_api_key|permission/i, 401],
	[/billing|insufficient_quota/i, 402],
	[/request_too_large/i, 413],
	[/invalid_request|invalid_prompt|not_found/i, 400],
];

const QUOTA =
	/insufficient_quota|exceeded your current quota|credit balance is too low|insufficient (?:credits|balance|funds)|billing|payment required|out of credits/i;
const FILTER = /content_filter|content_policy|content management policy|responsibleai|moderation|flagged|safety system|data_inspection_failed|usage polic/i;

function kindOf(status: number, said: string, codes: readonly string[], about: { empty: boolean; long: boolean; wait: boolean }): ModelFailure {
	const all = `${codes.join(" ")} ${said}`;
	if (isOverflow(all)) return "too_long";
	if (status === 413 || (status === 400 && about.empty && about.long)) return "too_long";
	// Google says "quota" for a rate limit too, and then tells how long it lasts.
	if (status === 402 || (QUOTA.test(all) && !(status === 429 && about.wait))) return "key";
	if ((status === 400 || status === 403 || status === 422 || status === 451) && FILTER.test(all)) return "refused";
	if (status === 401 || status === 403) return "key";
	if (status === 429) return "later";
	if (status === 408 || status === 409 || status === 425 || (status >= 500 && status !== 501)) return "again";
	return "wrong";
}

function advice(kind: ModelFailure, status: number, codes: readonly string[], said: string): string {
	const all = `${codes.join(" ")} ${said}`;
	if (kind === "key")
		return QUOTA.test(all) || status === 402 ? "; the account has no credit left for this" : "; check the key with `holdfast-agent setup key`";
	if (kind === "wrong" && (status === 404 || /model_not_found/.test(all))) return "; check the address and the name of the model with `holdfast-agent setup`";
	return "";
}

/** The sentence for a person, and every code or type beside it. Bodies have a dozen shapes, and some are web pages. */
function wordsOf(body: string): { said: string; codes: string[] } {
	const value = parsed(body);
	const root = object(Array.isArray(value) ? value[0] : value);
	if (Object.keys(root).length === 0) return { said: pageTitle(body), codes: [] };
	const error = typeof root.error === "object" ? object(root.error) : root;
	const upstream = object(error.metadata).raw;
	const first = object(list(root.errors)[0] ?? list(root.detail)[0]);
	const said = [root.error, error.message, root.message, root.detail, first.message, first.msg, error.error].map(text).find((one) => one !== "") ?? "";
	// A router's own sentence is only "Provider returned error".
	const inner = typeof upstream === "string" && upstream !== "" ? wordsOf(upstream) : { said: "", codes: [] };
	const codes = [error.code, error.type, error.status, root.code, root.type].flatMap((code) =>
		typeof code === "string" || number(code) !== undefined ? [String(code)] : [],
	);
	return { said: oneLine([said, inner.said].filter((one) => one !== "").join(" - ")), codes: [...codes, ...inner.codes] };
}

/** A web page instead of JSON: its title says more than its markup. */
function pageTitle(body: string): string {
	const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1]?.trim();
	if (title !== undefined) return oneLine(`a web page, "${title}"`);
	return /^\s*<(?:!doctype|html)/i.test(body) ? "a web page" : oneLine(body);
}

const MOST_WORDS = 600;
function oneLine(source: string): string {
	const line = source.replace(/[\s\p{Cc}]+/gu, " ").trim();
	return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS)}…` : line;
}

const MOST_ERROR_BYTES = 64 * 1024;
const ERROR_BODY_MS = 10_000;

/** The body of a response that is not the answer: its beginning, for a while. */
export async function readBody(response: Response, most = MOST_ERROR_BYTES): Promise<string> {
	if (!response.body) return "";
	const reader = response.body.getReader();
	const decoder = new TextDecoder();
	const timer = setTimeout(() => reader.cancel().catch(() => {}), ERROR_BODY_MS);
	let body = "";
	try {
		for (let bytes = 0; bytes < most; ) {
			const { done, value } = await reader.read();
			if (done) break;
			bytes += value.byteLength;
			body += decoder.decode(value, { stream: true });
		}
	} catch {
		// The status alone says enough.
	} finally {
		clearTimeout(timer);
		reader.cancel().catch(() => {});
	}
	return body;
}
