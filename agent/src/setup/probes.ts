/** Tries what was entered, before anything is saved. Every answer is in words for a person. */
import { openRuntime } from "holdfast";
import type { KeyRing } from "../base/index.js";
import {
	type ListedModel,
	listModels,
	ModelError,
	type ModelFailure,
	type ModelOptions,
	type ProbeResult,
	type ProbeStep,
	probeModel,
} from "../model/index.js";
import type { SetupDraft } from "./draft.js";

export type Tried<T> =
	| { readonly ok: true; readonly value: T; readonly words: string }
	| {
			readonly ok: false;
			readonly words: string;
			readonly kind?: ModelFailure;
			/** Something answers, and has no list of models. */
			readonly unlisted?: true;
	  };

const NO_LIST: readonly unknown[] = [404, 405, 501];

export function modelOptions(draft: SetupDraft, keys: KeyRing): ModelOptions {
	const { key } = draft;
	return {
		endpoint: { ...draft.set[draft.name], url: draft.url, format: draft.format, ...draft.learned },
		model: draft.model ?? "",
		reasoning: draft.reasoning,
		...(key ? { key: async () => ("value" in key ? key.value : keys.read(key.source)) } : {}),
	};
}

/** Asks for the models. An endpoint that lists none can be used all the same: then the name is typed. */
export async function tryEndpoint(draft: SetupDraft, keys: KeyRing, signal: AbortSignal): Promise<Tried<readonly ListedModel[]>> {
	try {
		const value = await listModels(modelOptions(draft, keys), {}, signal);
		return { ok: true, value, words: `${draft.url} has ${value.length === 1 ? "one model" : `${value.length} models`}` };
	} catch (error) {
		signal.throwIfAborted();
		const status = error instanceof ModelError ? error.details.status : undefined;
		if (NO_LIST.includes(status)) {
			const words = `${draft.url} has no list of models (it answered ${status}): the address is wrong, or its server keeps none, and the name of the model is typed`;
			return { ok: false, words, unlisted: true };
		}
		return { ok: false, words: error instanceof Error ? error.message : String(error), ...(error instanceof ModelError ? { kind: error.kind } : {}) };
	}
}

/** Four requests; yields each step as it is done. */
export const modelSteps = (draft: SetupDraft, keys: KeyRing, signal: AbortSignal): AsyncGenerator<ProbeStep, ProbeResult> =>
	probeModel(modelOptions(draft, keys), {}, signal);

export async function tryModel(draft: SetupDraft, keys: KeyRing, signal: AbortSignal, said: (step: ProbeStep) => void): Promise<ProbeResult> {
	const steps = modelSteps(draft, keys, signal);
	for (;;) {
		const next = await steps.next();
		if (next.done) return next.value;
		said(next.value);
	}
}

const PROBE_TASK = "holdfast-agent setup";
const PLACE_MS = 60_000;

/** Runs a command there, and leaves nothing behind. */
export async function tryPlace(place: string): Promise<Tried<string>> {
	try {
		await using runtime = await openRuntime({ place, warm: 0 });
		try {
			const { status, exit_code, output, error } = await runtime.terminal({ command: "pwd" }, { task: PROBE_TASK, within: PLACE_MS, door: "agent setup" });
			const directory = output.trim();
			if (status === "exited" && exit_code === 0) return { ok: true, value: directory, words: `commands run at ${runtime.placeName}, in ${directory}` };
			return { ok: false, words: error ?? (output.trim() || `the command ended as ${status}`) };
		} finally {
			await runtime.endTask(PROBE_TASK);
		}
	} catch (error) {
		return { ok: false, words: error instanceof Error ? error.message : String(error) };
	}
}
