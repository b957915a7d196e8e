/** `setup --json FILE`: the answers of the wizard, from a file. They are tried as those of a person are. */
import fs from "node:fs";
import * as z from "zod";
import { AgentError, type AgentHome, errno, type KeyRing, type LoadedConfig } from "../base/index.js";
import { platformKind } from "../gateway/index.js";
import { baseUrl, KNOWN_ENDPOINTS, type ProbeStep } from "../model/index.js";
import { draftFrom, type SetupDraft, type SetupStep, save } from "./draft.js";
import { type PlatformDraft, savePlatform, tryPlatform } from "./platform.js";
import { tryModel, tryPlace } from "./probes.js";
import { toolsetStates } from "./toolsets.js";

const MOST_BYTES = 1024 * 1024;

const answersSchema = z.strictObject({
	/** One that is known by name (openrouter, openai, anthropic, ollama …); or `url`. */
	endpoint: z.string().optional(),
	url: z.string().optional(),
	/** Its name in agent.json. */
	name: z.string().optional(),
	format: z.enum(["chat", "responses", "anthropic"]).optional(),
	/** The key itself: it is stored in a file of its own. */
	key: z.string().min(1).optional(),
	/** A program that prints it, with its arguments. */
	keyCommand: z.array(z.string().min(1)).min(1).optional(),
	model: z.string().min(1).optional(),
	place: z.string().min(1).optional(),
	toolsets: z.array(z.string()).optional(),
	/** A chat platform: tokens are stored in files of their own. */
	platform: z
		.strictObject({
			kind: z.string().min(1),
			name: z.string().min(1).optional(),
			settings: z.record(z.string(), z.unknown()).default({}),
			keys: z.record(z.string(), z.string().min(1)).default({}),
			/** The id of the person who may do everything. */
			owner: z.string().min(1).optional(),
		})
		.optional(),
	/** Save also what could not be tried, or failed. */
	anyway: z.boolean().default(false),
});
type Answers = z.infer<typeof answersSchema>;

export interface AppliedAnswers {
	readonly saved: boolean;
	readonly said: readonly string[];
}

export async function applyAnswers(file: string, settings: LoadedConfig & { home: AgentHome }, keys: KeyRing, signal: AbortSignal): Promise<AppliedAnswers> {
	const answers = readAnswers(file);
	const draft = withAnswers(draftFrom(settings), answers);
	const steps = stepsOf(answers);
	if (steps.length === 0 && !answers.platform)
		throw new AgentError("INVALID", "the file has no answer in it; give at least one of endpoint, url, key, keyCommand, model, place, toolsets, platform");
	await toolsetStates({ ...settings.config, toolsets: answers.toolsets ? [...answers.toolsets] : settings.config.toolsets }, keys); // throws for a name that there is not
	const said: string[] = [];
	const platform = answers.platform && platformDraft(answers.platform);
	const good = (await tried(draft, steps, keys, signal, said)) && (platform === undefined || (await triedPlatform(platform, said)));
	if (!good && !answers.anyway) return { saved: false, said };
	if (steps.length > 0) await save(settings.home, keys, draft, steps);
	if (platform) await savePlatform(settings.home, keys, platform);
	return { saved: true, said };
}

function platformDraft({ kind, name = kind, settings, keys, owner }: NonNullable<Answers["platform"]>): PlatformDraft {
	platformKind(kind); // throws for one that there is not
	return { name, kind, settings, secrets: keys, owner };
}

async function triedPlatform(draft: PlatformDraft, said: string[]): Promise<boolean> {
	try {
		said.push(`ok: ${(await tryPlatform(draft)).words}`);
		return true;
	} catch (error) {
		said.push(`not ok: ${error instanceof Error ? error.message : String(error)}`);
		return false;
	}
}

async function tried(draft: SetupDraft, steps: readonly SetupStep[], keys: KeyRing, signal: AbortSignal, said: string[]): Promise<boolean> {
	let good = true;
	if (steps.some((step) => step === "endpoint" || step === "key" || step === "model")) {
		if (draft.url === "") throw new AgentError("INVALID", "no endpoint is set; give endpoint or url");
		if (draft.model === undefined) throw new AgentError("INVALID", "no model is set; give model");
		const probe = await tryModel(draft, keys, signal, (step: ProbeStep) => said.push(`${step.ok ? "ok" : "not ok"}: ${step.words}`));
		draft.learned = probe.learned;
		good = probe.ok;
	}
	if (steps.includes("place") && draft.place !== undefined) {
		const place = await tryPlace(draft.place);
		said.push(`${place.ok ? "ok" : "not ok"}: ${place.words}`);
		good &&= place.ok;
	}
	return good;
}

function readAnswers(file: string): Answers {
	let text: string;
	try {
		if (file !== "-" && fs.statSync(file).size > MOST_BYTES)
			throw new AgentError("INVALID", `${file} is too long for answers; give a JSON file of a few lines`);
		text = fs.readFileSync(file === "-" ? 0 : file, "utf8");
	} catch (error) {
		if (error instanceof AgentError) throw error;
		throw new AgentError("INVALID", `cannot read ${file} (${errno(error) ?? error}); give a JSON file with the answers`, { cause: error });
	}
	let json: unknown;
	try {
		json = JSON.parse(text);
	} catch (cause) {
		throw new AgentError("INVALID", `${file === "-" ? "stdin" : file} is no JSON; write { "url": "…", "model": "…" }`, { cause });
	}
	const parsed = answersSchema.safeParse(json);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	throw new AgentError(
		"INVALID",
		`${file === "-" ? "stdin" : file}: ${[...(issue?.path ?? []), issue?.message].join(": ")}; there are ${Object.keys(answersSchema.shape).join(", ")}`,
	);
}

function withAnswers(draft: SetupDraft, answers: Answers): SetupDraft {
	const known = answers.endpoint === undefined ? undefined : KNOWN_ENDPOINTS.find(({ name }) => nameOf(name) === nameOf(answers.endpoint as string));
	if (answers.endpoint !== undefined && !known && answers.url === undefined)
		throw new AgentError(
			"INVALID",
			`no endpoint "${answers.endpoint}" is known; give its url, or one of ${KNOWN_ENDPOINTS.map(({ name }) => nameOf(name)).join(", ")}`,
		);
	const url = answers.url ?? known?.url;
	const other = url !== undefined && url !== draft.url;
	return {
		...draft,
		...(url === undefined ? {} : { url: baseUrl(url), format: known?.formats[0] ?? "chat", name: known ? nameOf(known.name) : "custom" }),
		...(other ? { key: undefined } : {}),
		...(answers.name === undefined ? {} : { name: answers.name }),
		...(answers.format === undefined ? {} : { format: answers.format }),
		...(answers.key === undefined ? {} : { key: { value: answers.key } }),
		...(answers.keyCommand === undefined ? {} : { key: { source: { command: answers.keyCommand } } }),
		...(answers.model === undefined ? {} : { model: answers.model }),
		...(answers.place === undefined ? {} : { place: answers.place }),
		...(answers.toolsets === undefined ? {} : { toolsets: answers.toolsets }),
	};
}

function stepsOf({ endpoint, url, name, format, key, keyCommand, model, place, toolsets }: Answers): SetupStep[] {
	const given = (...values: readonly unknown[]) => values.some((value) => value !== undefined);
	return [
		...(given(endpoint, url, name, format) ? (["endpoint"] as const) : []),
		...(given(key, keyCommand) || given(endpoint, url) ? (["key"] as const) : []),
		...(given(model) ? (["model"] as const) : []),
		...(given(place) ? (["place"] as const) : []),
		...(given(toolsets) ? (["toolsets"] as const) : []),
	];
}

/** "LM Studio" is lm-studio in agent.json. */
export const nameOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
