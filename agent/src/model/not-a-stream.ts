/** A response that succeeded and is no stream: a web page (the address is of something else), an error in JSON, an endpoint that does not stream. */
import { hostOf } from "./endpoints.js";
import { eventError, readBody } from "./errors.js";
import { object, parsed } from "./json.js";
import { ModelError } from "./model.js";
import type { StreamEvent } from "./sse.js";

export async function notAStream(response: Response, url: string): Promise<ModelError | undefined> {
	const type = response.headers.get("content-type")?.toLowerCase() ?? "";
	const host = hostOf(url);
	if (!response.body) return new ModelError("wrong", `${host} answered without a body`);
	if (/text\/html/.test(type)) {
		await response.body.cancel();
		return new ModelError("wrong", `${host} answered with a web page, so ${url} is no model endpoint; check its address (most end with /v1)`);
	}
	if (!/application\/json/.test(type)) return undefined;
	const body = object(parsed(await readBody(response)));
	if (body.error) return eventError(body.error, "");
	return new ModelError("wrong", `${host} answered at once although a stream was asked for; take an endpoint that streams, or turn streaming on in it`);
}

/** An answer that was asked for whole, as the one event of a stream. Throws `ModelError` if the connection breaks in the middle of it. */
export async function* wholeEvent(response: Response): AsyncGenerator<StreamEvent, void> {
	let body: string;
	try {
		body = await response.text();
	} catch (cause) {
		throw new ModelError("cut", "the connection broke in the middle of the answer", { cause });
	}
	yield { data: body };
	yield { data: "[DONE]" };
}
