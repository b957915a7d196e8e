/** The meaning of Slack's errors for a message. */
import { fromNetwork, later } from "./failures.js";
import { PlatformError } from "./platform.js";

interface Coded {
	readonly code?: string;
	readonly data?: { readonly error?: string };
	readonly retryAfter?: number;
	readonly original?: unknown;
	readonly statusCode?: number;
}

const KEY = new Set([
	"invalid_auth",
	"not_authed",
	"account_inactive",
	"token_revoked",
	"token_expired",
	"not_allowed_token_type",
	"missing_scope",
	"no_permission",
]);
const DEAD = new Set([
	"channel_not_found",
	"is_archived",
	"not_in_channel",
	"user_not_found",
	"user_disabled",
	"cannot_dm_bot",
	"restricted_action",
	"is_inactive",
]);
const UNSURE = new Set(["internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"]);

export function fromSlackError(error: unknown): PlatformError {
	if (error instanceof PlatformError) return error;
	const { code, data, retryAfter, original, statusCode } = error as Coded;
	const cause = { cause: error };
	if (code === "slack_webapi_rate_limited_error") return later("Slack", retryAfter ?? 30);
	if (code === "slack_webapi_request_error") return fromNetwork(original, "Slack");
	if (code === "slack_webapi_http_error") return new PlatformError("unsure", `Slack answered ${statusCode}; the message may have arrived`, cause);
	const name = data?.error ?? "";
	if (name === "ratelimited") return later("Slack", 30);
	if (KEY.has(name)) return new PlatformError("key", `Slack does not take the token (${name}); check both tokens and the scopes of the app`, cause);
	if (DEAD.has(name)) return new PlatformError("dead", `Slack: ${name}`, cause);
	if (UNSURE.has(name)) return new PlatformError("unsure", `Slack: ${name}; the message may have arrived`, cause);
	return code === "slack_webapi_platform_error" ? new PlatformError("refused", `Slack: ${name}`, cause) : fromNetwork(error, "Slack");
}
