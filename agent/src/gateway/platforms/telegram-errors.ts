/** The meaning of Telegram's errors for a message. */
import { fromNetwork, later } from "./failures.js";
import { PlatformError } from "./platform.js";

interface ApiFailure {
	readonly error_code: number;
	readonly description: string;
	readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

const isApiFailure = (error: unknown): error is ApiFailure => typeof (error as ApiFailure | undefined)?.error_code === "number";

const GONE = /chat not found|user is deactivated|group chat was deactivated|bot was kicked|PEER_ID_INVALID|chat_id is empty|not enough rights|have no rights/i;

export function fromTelegram(error: unknown): PlatformError {
	if (!isApiFailure(error)) return fromNetwork(error, "Telegram");
	const { error_code: code, description, parameters } = error;
	const cause = { cause: error };
	if (code === 429) return later("Telegram", parameters?.retry_after ?? 30);
	if (code === 401 || code === 404) return new PlatformError("key", "Telegram does not know this token; get one from @BotFather and run setup again", cause);
	if (code === 409 && /webhook/i.test(description))
		return new PlatformError("taken", "a webhook of another program is set for this bot; remove it (the Bot API's deleteWebhook), or make a new bot", cause);
	if (code === 409) return new PlatformError("taken", "another program polls with this token; stop it, or make a second bot", cause);
	if (parameters?.migrate_to_chat_id !== undefined)
		return new PlatformError("dead", `the group has become the supergroup ${parameters.migrate_to_chat_id}; write to the bot in it`, cause);
	if (code === 403 || GONE.test(description)) return new PlatformError("dead", `Telegram: ${description}`, cause);
	if (code >= 500) return new PlatformError("unsure", `Telegram answered ${code}: ${description}; the message may have arrived`, cause);
	return new PlatformError("refused", `Telegram: ${description}`, cause);
}

/** False if Telegram says that the message has this very text already. */
export const isModified = (error: unknown): boolean => !(isApiFailure(error) && /message is not modified/i.test(error.description));
