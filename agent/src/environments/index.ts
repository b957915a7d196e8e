/** Environments for each kind of item, and the agents that act in them. agent/docs/environments.md */
import type { Environment, EpisodeAgent } from "../episode/index.js";
import type { TaskItem } from "../tasks/index.js";
import { commandAgent } from "./agents/command.js";
import { nopAgent, oracleAgent } from "./agents/oracle.js";
import { harborEnvironment } from "./harbor/index.js";
import { promptEnvironment } from "./prompt.js";
import { sweEnvironment } from "./swe.js";

export { modelAgent } from "./agents/model.js";

export function environmentOf(item: TaskItem): Environment {
	switch (item.kind) {
		case "prompt":
			return promptEnvironment(item.row);
		case "harbor":
			return harborEnvironment(item.task);
		case "swe":
			return sweEnvironment(item.row);
	}
}

/** The agent that `modelAgent` makes. */
export const MODEL = "model";

/** An agent that needs no model: `oracle`, `nop`, or a command of the place. */
export const agentNamed = (name: string): EpisodeAgent => (name === "oracle" ? oracleAgent : name === "nop" ? nopAgent : commandAgent(name));
