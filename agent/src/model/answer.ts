/** From what a stream said to an answer that may be acted on. Nothing is repaired: a call is whole, or it is not there. */
import { isLegalId, newCallId } from "./ids.js";
import { argumentsOf } from "./json.js";
import { type Answer, type ModelCall, ModelError } from "./model.js";
import type { RawAnswer, RawCall } from "./wire.js";

/** `used` are the ids that no call may have any more. */
export function closeAnswer(raw: RawAnswer, from: string, used: Set<string>): Answer {
	// The arguments of a call that `length` has cut are no JSON object: half of one never is. Otherwise the text stays as the model wrote it, valid or not.
	const whole = raw.calls.filter((call) => !call.cut && (!raw.length || argumentsOf(call.args) !== undefined));
	const calls = whole.map((call) => named(call, from, used));
	return {
		text: raw.text,
		reasoning: raw.reasoning.filter((block) => block.text !== "" || block.data !== undefined),
		calls,
		stop: raw.length ? "length" : calls.length > 0 ? "calls" : "done",
		...(whole.length < raw.calls.length ? { cutCall: true } : {}),
		...(raw.usage ? { usage: raw.usage } : {}),
		model: raw.model,
		...(raw.tokens ? { tokens: raw.tokens } : {}),
	};
}

function named({ id, name, args, extra }: RawCall, from: string, used: Set<string>): ModelCall {
	if (name === "") throw new ModelError("wrong", "the endpoint sent a call without the name of a tool");
	const fresh = id !== undefined && id !== "" && !used.has(id) ? id : undefined;
	const own = fresh !== undefined && isLegalId(fresh) ? fresh : newCallId();
	used.add(own);
	if (fresh !== undefined) used.add(fresh);
	const kept = { ...(fresh !== undefined && fresh !== own ? { id: fresh } : {}), ...(extra ? { extra } : {}) };
	return { id: own, name, args, ...(Object.keys(kept).length > 0 ? { wire: { from, ...kept } } : {}) };
}
