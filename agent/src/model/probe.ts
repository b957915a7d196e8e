/** Finds out what an endpoint and a model can do: four requests, with results in words. None is retried: a wizard shows at once what is wrong. */
import { anySignal } from "../base/index.js";
import type { EndpointSettings } from "./endpoints.js";
import { aboutModel } from "./find-window.js";
import { argumentsOf } from "./json.js";
import type { ListedModel } from "./list.js";
import { type Answer, type Message, ModelError, type ModelRequest } from "./model.js";
import { type EndpointModel, type ModelOptions, type ModelParts, openModel } from "./open.js";
import { type ContextWindow, windowOf } from "./window.js";

export interface ProbeStep {
	readonly name: "answers" | "tools" | "order" | "reasoning" | "window";
	readonly ok: boolean;
	/** An agent can work without it. */
	readonly optional?: true;
	/** For a person: what was found; if it is bad, what to do. */
	readonly words: string;
}

export interface ProbeResult {
	readonly steps: readonly ProbeStep[];
	/** It answers, and calls tools: an agent can work with it. */
	readonly ok: boolean;
	readonly window: ContextWindow;
	readonly listed: ListedModel;
	/** The settings of the endpoint that differ from the known ones. */
	readonly learned: Pick<EndpointSettings, "bridge" | "maxTokensField" | "systemRole">;
}

const STEP_MS = 120_000;

const REPORT = {
	name: "report",
	description: "Reports a word.",
	schema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
} as const;

const ASK: Message = { role: "user", text: "Call the tool `report` with the word `ready`. Say nothing else." };

/** Yields each step when it is done. Throws only the signal's reason. */
export async function* probeModel(options: ModelOptions, parts: ModelParts, signal: AbortSignal): AsyncGenerator<ProbeStep, ProbeResult> {
	const steps: ProbeStep[] = [];
	const done = (step: ProbeStep): ProbeStep => {
		steps.push(step);
		return step;
	};
	const model = openModel(options, parts);
	const before = model.setup.flags;

	const first = await say(model, { system: "", messages: [{ role: "user", text: "Answer with the single word: ready" }], tools: [] }, signal);
	yield done(
		first.answer
			? { name: "answers", ok: true, words: `answers, and streams (${first.pieces === 1 ? "one piece" : `${first.pieces} pieces`})` }
			: { name: "answers", ok: false, words: first.words },
	);

	const made = first.answer ? await say(model, { system: "", messages: [ASK], tools: [REPORT] }, signal) : undefined;
	const call = made?.answer?.calls.find(({ name, args }) => name === REPORT.name && argumentsOf(args) !== undefined);
	yield done(made ? { name: "tools", ok: call !== undefined, words: call ? "calls tools" : noCall(made) } : NOT_TRIED("tools"));

	if (made?.answer && call) {
		const messages: Message[] = [
			ASK,
			{ role: "assistant", ...made.answer },
			...made.answer.calls.map(({ id }): Message => ({ role: "result", call: id, text: "reported", failed: false })),
			{ role: "user", text: "Answer with the single word: done" },
		];
		const after = await say(model, { system: "", messages, tools: [REPORT] }, signal);
		const bridged = model.setup.flags.bridge ? "takes a message after a result with a bridge between them" : "takes a message directly after a result";
		yield done({ name: "order", ok: after.answer !== undefined, words: after.answer ? bridged : after.words });
	} else yield done(NOT_TRIED("order"));

	if (options.reasoning !== undefined && first.answer) {
		const { reasoning, flags } = model.setup;
		const taken = reasoning !== undefined && (model.format !== "chat" || flags.reasoning !== "none");
		const words = taken ? `thinks with effort ${options.reasoning}` : `does not take \`reasoning\`, so ${options.reasoning} is left out of what it is sent`;
		yield done({ name: "reasoning", ok: taken, optional: true, words });
	}

	const listed = await aboutModel(options, parts, signal);
	const set = options.window ?? options.endpoint.models?.[options.model]?.window ?? options.endpoint.window;
	const window = windowOf(set, listed.window);
	yield done({ name: "window", ok: window.from !== "default", optional: true, words: windowWords(window) });

	const { bridge, maxTokensField, systemRole } = model.setup.flags;
	const learned = {
		...(bridge === before.bridge ? {} : { bridge }),
		...(maxTokensField === before.maxTokensField ? {} : { maxTokensField }),
		...(systemRole === before.systemRole ? {} : { systemRole }),
	};
	return { steps, ok: steps.every(({ ok, optional }) => ok || optional), window, listed, learned };
}

interface Said {
	readonly answer?: Answer;
	readonly words: string;
	readonly pieces: number;
}

async function say(model: EndpointModel, request: ModelRequest, signal: AbortSignal): Promise<Said> {
	const timeout = AbortSignal.timeout(STEP_MS);
	let pieces = 0;
	try {
		const run = model.once(request, anySignal([signal, timeout]));
		for (;;) {
			const next = await run.next();
			if (next.done) return { answer: next.value, words: "", pieces };
			pieces++;
		}
	} catch (error) {
		signal.throwIfAborted();
		if (timeout.aborted) return { words: `did not answer within ${STEP_MS / 1000} s; a model that is being loaded may need a second try`, pieces };
		if (error instanceof ModelError) return { words: error.message, pieces };
		throw error;
	}
}

const NOT_TRIED = (name: ProbeStep["name"]): ProbeStep => ({ name, ok: false, words: "not tried, since the step before failed" });

function noCall({ answer, words }: Said): string {
	if (!answer) return `does not take tools: ${words}`;
	const instead = answer.calls.length > 0 ? "called the tool with arguments that are no JSON" : "answered with text instead of calling the tool";
	return `${instead}; take a model that calls tools, or turn tool calling on in its server`;
}

function windowWords({ tokens, from }: ContextWindow): string {
	const size = `${tokens.toLocaleString("en-US")} tokens`;
	if (from === "config") return `window of ${size}, as the settings say`;
	return from === "endpoint"
		? `window of ${size}, as the endpoint says`
		: `the endpoint does not tell the window; ${size} is assumed, so set \`window\` of the endpoint in agent.json if it is another`;
}
