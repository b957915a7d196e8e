/** `setup`: the wizard, its answers from a file, or only its tests. */
import { AgentError, KeyRing, nearNames } from "../../base/index.js";
import { isDumb } from "../../chat/index.js";
import { applyAnswers, checkSetup, type SetupStep, STEPS } from "../../setup/index.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";

export async function run(call: Call): Promise<number> {
	const { values, words, out } = call;
	const settings = settingsOf(call);
	const keys = new KeyRing(settings.home);
	const { signal } = new AbortController();
	const forPlatform = words[0] === "platform";
	const step = forPlatform ? undefined : stepOf(words[0]);
	if (values.check) {
		const check = checkSetup(settings, keys, signal);
		for (;;) {
			const next = await check.next();
			if (next.done) return next.value ? 0 : 1;
			const { ok, words: said } = next.value;
			out.line(`${ok ? out.style("green", "ok") : out.style("red", "no")}  ${said}`);
		}
	}
	if (typeof values.json === "string") {
		const { saved, said } = await applyAnswers(values.json, settings, keys, signal);
		for (const line of said) out.note(line);
		out.note(saved ? `Saved in ${settings.file}.` : 'Nothing was saved; correct the answers, or add "anyway": true.');
		return saved ? 0 : 1;
	}
	if (!process.stdin.isTTY || !process.stdout.isTTY || isDumb())
		throw new AgentError(
			"UNSUPPORTED",
			`setup asks questions, and this is no terminal that can show them; write ${settings.file} yourself, or give the answers with --json FILE (see \`holdfast-agent help setup\`)`,
		);
	const { runPlatformWizard, runWizard } = await import("../../setup/index.js");
	if (forPlatform) return (await runPlatformWizard({ home: settings.home, keys, settings })) ? 0 : 130;
	return (await runWizard({ home: settings.home, settings, keys, ...(step === undefined ? {} : { step }) })) ? 0 : 130;
}

function stepOf(word: string | undefined): SetupStep | undefined {
	if (word === undefined || STEPS.includes(word as SetupStep)) return word as SetupStep | undefined;
	const [near] = nearNames(word, [...STEPS, "platform"]);
	throw new AgentError("INVALID", `there is no step "${word}"; ${near ? `did you mean ${near}?` : `there are ${[...STEPS, "platform"].join(", ")}`}`);
}
