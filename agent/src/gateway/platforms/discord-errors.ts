/** The meaning of Discord's errors for a message. */
import { fromNetwork, later } from "./failures.js";
import { PlatformError } from "./platform.js";

interface DiscordFailure {
	readonly name?: string;
	readonly status?: number;
	readonly code?: number | string;
	readonly message?: string;
	/** In ms. */
	readonly retryAfter?: number;
}

/** Unknown channel, missing access, cannot send to this person, missing permissions. */
const DEAD = new Set<number | string | undefined>([10003, 50001, 50007, 50013, 50278]);
/** Wrong token, invalid shard, sharding required, invalid version, invalid intents, disallowed intents. */
const FATAL = new Set([4004, 4010, 4011, 4012, 4013, 4014]);

export function fromDiscord(error: unknown): PlatformError {
	if (error instanceof PlatformError) return error;
	const { name = "", status, code, message = "", retryAfter } = error as DiscordFailure;
	const cause = { cause: error };
	if (name.startsWith("RateLimitError")) return later("Discord", (retryAfter ?? 30_000) / 1000);
	if (/disallowed intents/i.test(message)) return fromClose(4014) as PlatformError;
	if (status === 401 || code === "TokenInvalid" || /Expected token to be set|invalid token|Authentication failed/i.test(message))
		return new PlatformError("key", "Discord does not take the token; copy it again from the developer portal and run setup", cause);
	if (status === 403 || DEAD.has(code)) return new PlatformError("dead", `Discord: ${message}`, cause);
	if (status !== undefined && status >= 500) return new PlatformError("unsure", `Discord answered ${status}; the message may have arrived`, cause);
	if (status !== undefined && status >= 400) return new PlatformError("refused", `Discord: ${message}`, cause);
	return fromNetwork(error, "Discord");
}

/** The error that a closed gateway connection stands for, if no new one can mend it. */
export function fromClose(code: number): PlatformError | undefined {
	if (!FATAL.has(code)) return undefined;
	if (code === 4014) return new PlatformError("key", "Discord does not let this bot read messages; turn on the Message Content Intent in the developer portal");
	return new PlatformError("key", `Discord closed the connection for good (${code}); check the token`);
}
