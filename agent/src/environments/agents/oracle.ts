/** Agents without a model: the task's own solution, which must get the whole reward, and nothing, which must get none. */
import { type EpisodeAgent, EpisodeError } from "../../episode/index.js";

const NO_WORK = { conversation: null, usage: { input: 0, output: 0 }, tools: [] };

export const oracleAgent: EpisodeAgent = {
	name: "oracle",
	async enter({ cx, environment }) {
		if (!environment.solve) throw new EpisodeError("environment", "agent_program", "this task has no solution, so there is nothing for the oracle to do");
		const solve = environment.solve.bind(environment);
		return {
			async act(_begun, round, signal) {
				await solve(cx, round, signal).catch((error: unknown) => (signal.aborted ? undefined : Promise.reject(error)));
				return signal.aborted ? "stopped" : "finished";
			},
			leave: async () => NO_WORK,
		};
	},
};

export const nopAgent: EpisodeAgent = { name: "nop", enter: async () => ({ act: async () => "finished", leave: async () => NO_WORK }) };
