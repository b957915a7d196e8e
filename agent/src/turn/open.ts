/** Opens a conversation, a new one or one that there is, with all that its turns need. */
import type { PlaceObject, Runtime, Task } from "holdfast";
import { type AgentConfig, type AgentHome, type Clock, isConversationId, KeyRing, newConversationId, systemClock } from "../base/index.js";
import type { Model } from "../model/index.js";
import { Log, pruneSessions, recallResult } from "../talk/index.js";
import { type AgentTool, TASK_LIMITS } from "../tools/index.js";
import { Conversation } from "./conversation.js";
import { EventHub } from "./hub.js";
import { atEndpoint, lastSaid } from "./lines.js";
import { checkPlace, parsePlace, placeText } from "./place.js";
import { UserQuestions } from "./questions.js";
import { ConversationState } from "./state.js";
import { openToolbox, type Toolbox } from "./toolbox.js";

export interface ConversationDoor {
	/** In the words to another program that wants to write: "chat", "gateway" … */
	readonly name: string;
	/** A `run` has to name its toolsets. */
	readonly kind: "chat" | "run";
	/** Why no person can answer a question of the model; undefined: one can. */
	readonly nobody?: () => string | undefined;
}

export interface ConversationOptions {
	readonly home: AgentHome;
	readonly config: AgentConfig;
	readonly model: Model;
	readonly runtime: Runtime;
	readonly door: ConversationDoor;
	/** The conversation to go on with. Without it a new one begins. */
	readonly id?: string;
	/** The task of a new conversation, and the conversation that it goes on from. */
	readonly begin?: { readonly task?: string; readonly from?: string };
	/** The start directory of its first shell. */
	readonly cwd?: string;
	/** For programs that the agent starts, on top of what they have. */
	readonly env?: Readonly<Record<string, string>>;
	/** As which user of its container the agent works; default: the container's. */
	readonly user?: string;
	/** In place of the configuration's. */
	readonly toolsets?: readonly string[];
	/** Tools of the door's own, besides those of the sets. */
	readonly tools?: readonly AgentTool[];
	/** Those that were read, so that they are masked everywhere. */
	readonly keys?: KeyRing;
	/** The name of the model's endpoint, for the log. */
	readonly endpoint?: string;
	/** Writes summaries; default: the conversation's own. */
	readonly summaryModel?: Model;
	/** The person's words for every conversation. */
	readonly extra?: string;
	/** A turn that was cut short goes on at once. Default true. */
	readonly resume?: boolean;
	/** How often the same step may be cut short within an hour before the person is asked. */
	readonly crashes?: number;
	readonly clock?: Clock;
	/** The system prompt and the tools go into the log too, for training data. */
	readonly record?: boolean;
}

export interface OpenedParts extends ConversationOptions {
	readonly log: Log;
	readonly task: Task;
	readonly keys: KeyRing;
	readonly hub: EventHub;
	readonly questions: UserQuestions;
	readonly state: ConversationState;
	readonly toolbox: Toolbox;
	readonly limits: AgentConfig["limits"];
	readonly directory: string | undefined;
	readonly place: { current: string | PlaceObject };
	readonly resume: boolean;
}

/** Throws `NOT_FOUND`, `BROKEN` (of the log), `ToolsetError`, or what the runtime has against the place or the directory. */
export async function openConversation(options: ConversationOptions): Promise<Conversation> {
	const { home, runtime, config, model, door, cwd, clock = systemClock } = options;
	const logOptions = { clock, what: door.name };
	const keys = options.keys ?? new KeyRing(home);
	const known = options.id === undefined ? undefined : Log.read(home, options.id, logOptions);
	const begun = known?.entries[0];
	const id = newConversationId(clock);
	const name = begun?.t === "begun" ? begun.task : (options.begin?.task ?? ownTask(id));
	// For programs that the agent starts: which conversation they belong to. Nothing of ours reads it.
	const env = { HOLDFAST_SESSION: name, ...options.env };
	const task = runtime.task(name, { limits: TASK_LIMITS, env, ...(cwd === undefined ? {} : { cwd }) });
	let toolbox: Toolbox | undefined;
	try {
		const at = (known && lastSaid(known.entries, "place")) ?? placeText(config.place);
		const place = { current: parsePlace(at) };
		if (!known) await checkPlace(runtime, place.current); // one that there is can always be opened, and moved elsewhere
		const hub = new EventHub();
		const questions = new UserQuestions((event) => hub.emit(event), door.nobody ?? (() => undefined));
		// A conversation begins only when its tools are known to be usable; they need its files only when they are used.
		let log = known;
		const state = new ConversationState(home, () => log?.id ?? "");
		const recall = (call: string): string | undefined => state.wholeOf(call) ?? recallResult(log?.entries ?? [], call);
		const scope = (): string => (isOwnTask(name) ? "" : `${log?.id}_`);
		const { toolsets, tools, user } = options;
		const current = () => place.current;
		toolbox = await openToolbox({ config, toolsets, tools, kind: door.kind, runtime, task, place: current, user, keys, questions, state, recall, scope });
		if (!log) {
			const from = options.begin?.from;
			const beginning = { task: name, place: at, model: model.name, ...atEndpoint(options), ...(from === undefined ? {} : { from }) };
			log = await Log.begin(home, beginning, { ...logOptions, id });
			await log.leave();
			if (config.keepDays !== null) pruneSessions(home, config.keepDays, clock);
		}
		const { limits } = config;
		return new Conversation({ ...options, keys, log, task, hub, questions, state, toolbox, place, limits, directory: cwd, resume: options.resume ?? true });
	} catch (error) {
		await toolbox?.close();
		await task.close();
		throw error;
	}
}

/** A task that belongs to one conversation; those of a chat on a platform share theirs. */
const ownTask = (id: string): string => `agent/${id}`;
const isOwnTask = (task: string): boolean => isConversationId(task.replace(/^agent\//, ""));
