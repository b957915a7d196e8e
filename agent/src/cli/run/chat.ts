/** `chat`: a conversation in the terminal. */
import { runChat } from "../../chat/index.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";

export async function run(call: Call): Promise<number> {
	const { values } = call;
	const resume = typeof values.resume === "string" ? values.resume : values.continue ? true : undefined;
	return runChat({ settings: settingsOf(call), quiet: values.quiet === true, ...(resume === undefined ? {} : { resume }) });
}
