/** `setup`: asks the steps one after the other, shows what it is about to write, and writes it. */
import type { AgentHome, KeyRing, LoadedConfig } from "../base/index.js";
import { changesOf, draftFrom, type SetupDraft, type SetupStep, STEPS, save } from "./draft.js";
import { ASK, type StepContext } from "./steps/index.js";
import { Back, confirm, info, intro, note, outro, watchKeys } from "./ui.js";

export interface WizardOptions {
	readonly home: AgentHome;
	readonly settings: LoadedConfig;
	readonly keys: KeyRing;
	/** Only this one. */
	readonly step?: SetupStep;
}

/** Resolves with false if the person has left; then nothing was written. */
export async function runWizard({ home, settings, keys, step }: WizardOptions): Promise<boolean> {
	const steps = step === undefined ? STEPS : withNeeds(step);
	const draft = draftFrom(settings);
	const context: StepContext = { draft, settings, keys, signal: new AbortController().signal };
	watchKeys();
	intro("holdfast-agent setup");
	info("Enter chooses, Esc goes back, Ctrl-C leaves. Nothing is saved before the end.");
	try {
		await askAll([...steps.map((name) => () => ASK[name](context)), () => askToSave(draft, steps, settings.file)]);
	} catch (error) {
		if (!(error instanceof Back)) throw error;
		outro("Nothing was saved.");
		return false;
	}
	await save(home, keys, draft, steps);
	outro("Saved. `holdfast-agent` begins a conversation.");
	return true;
}

async function askToSave(draft: SetupDraft, steps: readonly SetupStep[], file: string): Promise<void> {
	const changes = changesOf(draft, steps);
	note(changes.map(({ key, value }) => `${key.join(".")}: ${value === undefined ? "(not set)" : JSON.stringify(value)}`).join("\n"), file);
	if (!(await confirm("Save this?"))) throw new Back("out");
}

/** Esc asks the step before again; in the first one it leaves. */
async function askAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
	for (let at = 0; at < steps.length; ) {
		try {
			await steps[at]?.();
			at++;
		} catch (error) {
			if (!(error instanceof Back) || error.to === "out" || (at === 0 && error.to === "before")) throw error;
			if (error.to === "before") at--;
		}
	}
}

/** Another endpoint has other keys and models. */
function withNeeds(step: SetupStep): readonly SetupStep[] {
	return step === "endpoint" ? ["endpoint", "key", "model"] : [step];
}
