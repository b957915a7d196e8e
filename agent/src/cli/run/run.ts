/** `run`: freezes a set of tasks and plays it. */
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "holdfast";
import * as z from "zod";
import { AgentError, fromSystem, isoTime, newConversationId, systemClock } from "../../base/index.js";
import { chosenEndpoint } from "../../chat/index.js";
import { MODEL } from "../../environments/index.js";
import { beginRun, type PoolPlace, placesFor, type RunManifest, type RunPlace } from "../../run/index.js";
import type { TaskItem } from "../../tasks/index.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";
import { collectRun } from "./collect.js";
import { numeric, play } from "./play.js";
import { checkedTasks, textOf } from "./tasks.js";

export const DEFAULTS = { seconds: 1_800, concurrency: 4 };

export async function run(call: Call): Promise<number> {
	const [source] = call.words;
	if (source === undefined) throw new AgentError("INVALID", "say what is to be run: a folder of tasks, a .jsonl file, or terminal-test");
	const pool = poolOf(call);
	const settings = settingsOf({ ...call, values: { ...call.values, place: undefined } });
	const { config, home } = settings;
	const { items, problems, warnings } = await checkedTasks(source, settings);
	for (const warning of warnings) call.out.note(textOf(warning));
	if (problems.length > 0)
		throw new AgentError(
			"INVALID",
			`${problems.length} of the tasks cannot be run, so nothing was started; \`holdfast-agent tasks ${source}\` says what is wrong with them`,
		);
	const agent = typeof call.values.agent === "string" ? call.values.agent : MODEL;
	if (agent.trim() === "") throw new AgentError("INVALID", "--agent takes model, oracle, nop, or a command of the place");
	if (agent === MODEL && !config.toolsets)
		throw new AgentError("CONFIG", "a run has to name its toolsets; give --toolsets terminal,file, or set them with `holdfast-agent setup toolsets`");
	if (agent === MODEL && config.model === undefined)
		throw new AgentError("CONFIG", "no model is chosen; give --model NAME, or run `holdfast-agent setup model`");
	const id = `run_${newConversationId(systemClock)}`;
	const dir = path.resolve(typeof call.values.output === "string" ? call.values.output : path.join(home.root, "runs", id));
	const place = pool[0]?.place ?? (config.place === "local" ? "local+sandbox" : (config.place as RunPlace));
	const concurrency = numeric(call, "concurrency", DEFAULTS.concurrency);
	const manifest: RunManifest = {
		...{ v: 1, id, created_at: isoTime(systemClock), source: fs.existsSync(source) ? path.resolve(source) : source },
		...(agent === MODEL ? { endpoint: chosenEndpoint(config).name, model: config.model ?? "" } : { endpoint: "", model: "" }),
		...{ agent, toolsets: [...(config.toolsets ?? [])], steps: config.limits.steps, place, concurrency },
		...(pool.length > 1 || pool[0]?.slots !== undefined ? { pool } : {}),
		seconds: numeric(call, "seconds", DEFAULTS.seconds),
		repeats: numeric(call, "repeats", 1),
	};
	if (call.values.nats === undefined) await refusePlaces(manifest, items); // the places of workers are theirs
	fs.mkdirSync(path.dirname(dir), { recursive: true, mode: 0o700 });
	const begun = beginRun(dir, manifest, items);
	return call.values.nats === undefined ? play(call, { dir, manifest, items: begun, concurrency }) : collectRun(call, dir);
}

/** Says what is wrong with the places before there is a run. */
async function refusePlaces(manifest: RunManifest, items: readonly TaskItem[]): Promise<void> {
	await using runtime = await openRuntime({ warm: 0 });
	placesFor(manifest, items, (place) => runtime.resolvePlace(place));
}

const poolSchema = z
	.array(z.strictObject({ place: z.union([z.string().min(1), z.looseObject({ kind: z.string() })]), slots: z.number().int().min(1).max(100_000).optional() }))
	.min(1);

/** Places of `--place`, each as often as it is given, and of a file. */
function poolOf({ values }: Call): PoolPlace[] {
	const named = (Array.isArray(values.place) ? values.place : []).map((place: string): PoolPlace => ({ place }));
	if (typeof values.pool !== "string") return named;
	let text: string;
	try {
		text = fs.readFileSync(values.pool, "utf8");
	} catch (error) {
		throw fromSystem(error, `cannot read the pool ${values.pool}`);
	}
	const parsed = poolSchema.safeParse(jsonIn(text));
	if (parsed.success) return [...named, ...(parsed.data as PoolPlace[])];
	const [issue] = parsed.error.issues;
	throw new AgentError(
		"INVALID",
		`${values.pool} is no pool of places: ${issue?.path.join(".") || "it"} ${issue?.message}; it takes [{"place": "local+sandbox", "slots": 4}, …]`,
	);
}

function jsonIn(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
