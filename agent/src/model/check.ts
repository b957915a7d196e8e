/**
 * The rules of the three formats, over the body that is about to be sent. A conversation's log is valid by construction, so a violation is a mistake in this
 * program: nothing is sent, and the error has the sequence in it.
 */
import { checkAnthropic } from "./check-anthropic.js";
import { checkChat } from "./check-chat.js";
import { checkResponses } from "./check-responses.js";
import { type JsonObject, list, object, text } from "./json.js";
import { ModelError, type WireFormat } from "./model.js";

/** Throws `ModelError` "wrong". */
export function checkBody(format: WireFormat, body: JsonObject, options: { readonly bridge: boolean; readonly ownIds?: ReadonlySet<string> }): void {
	const broken = brokenRule(format, body, options);
	if (broken === undefined) return;
	const sequence = list(format === "responses" ? body.input : body.messages).map((item) => shape(object(item)));
	throw new ModelError(
		"wrong",
		`the request would break a rule of its format (${broken}), so it was not sent; please report it with this sequence: ${shortened(sequence)}`,
	);
}

/** The rule that it breaks, in words. */
export function brokenRule(
	format: WireFormat,
	body: JsonObject,
	{ bridge, ownIds }: { readonly bridge: boolean; readonly ownIds?: ReadonlySet<string> },
): string | undefined {
	if (text(body.model) === "") return "it names no model";
	if (format === "chat") return checkChat(body, { strict: bridge, ownIds: ownIds ?? new Set() });
	return format === "anthropic" ? checkAnthropic(body) : checkResponses(body);
}

/** Roles and ids, and never what was said. */
function shape(item: JsonObject): string {
	const calls = list(item.tool_calls).map((call) => text(object(call).id));
	const blocks = list(item.content)
		.map(object)
		.map(({ type, id, tool_use_id }) => [type, id ?? tool_use_id].filter((part) => typeof part === "string").join(" "));
	const ids = [text(item.tool_call_id), text(item.call_id), ...calls, ...blocks].filter((id) => id !== "").map((id) => id.slice(0, 80));
	return `${text(item.role) || text(item.type)}${ids.length > 0 ? `(${ids.join(", ")})` : ""}`;
}

/** The end of it: what is new is wrong. */
const shortened = (sequence: readonly string[]): string =>
	(sequence.length > 60 ? `… (${sequence.length - 60} before) ` : "") + sequence.slice(-60).join(" → ");
