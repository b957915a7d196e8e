/** Which reasoning goes back: only to the model, the endpoint and the format that wrote it. To others it is noise, or an error. */
import type { Message, Reasoning, WireFormat } from "./model.js";
import type { WireSetup } from "./wire.js";

export function goesBack(block: Reasoning, message: Extract<Message, { role: "assistant" }>, format: WireFormat, setup: WireSetup): boolean {
	if (block.format !== format || block.data === undefined) return false;
	return block.from === undefined ? message.model === setup.model : block.from === setup.from;
}
