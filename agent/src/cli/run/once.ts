/** `-q TEXT`, `-f FILE`: one message. */
import { AgentError } from "../../base/index.js";
import { readPrompt, runOnce } from "../../once/index.js";
import { numberOf, settingsOf } from "../settings.js";
import type { Call } from "../table.js";

const MOST_LINGER = 600;

export async function run(call: Call): Promise<number> {
	const { values } = call;
	const settings = settingsOf(call);
	const linger = values.linger === undefined ? 0 : numberOf("--linger", values.linger);
	if (linger > MOST_LINGER) throw new AgentError("INVALID", `--linger takes at most ${MOST_LINGER} seconds, not ${linger}`);
	const resume = typeof values.resume === "string" ? values.resume : values.continue ? true : undefined;
	const text = readPrompt({ text: values.q as string | undefined, file: values.f as string | undefined });
	return runOnce({ settings, text, json: call.out.json, linger, ...(resume === undefined ? {} : { resume }) });
}
