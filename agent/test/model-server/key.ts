/** Keys: a bearer token, or Anthropic's header. */
import type { IncomingHttpHeaders } from "node:http";

export function checkKey(headers: IncomingHttpHeaders, key: string | undefined): { message: string; type: string; code?: string } | undefined {
	if (key === undefined) return undefined;
	const given = headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
	if (given === key) return undefined;
	if (headers["anthropic-version"]) return { message: "invalid x-api-key", type: "authentication_error" };
	// OpenAI shows the key that it was given, and not every endpoint masks it.
	return {
		message: `Incorrect API key provided: ${given}. You can find your API key at https://platform.openai.com/account/api-keys.`,
		type: "invalid_request_error",
		code: "invalid_api_key",
	};
}
