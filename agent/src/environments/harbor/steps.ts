/** Scores of tasks with steps. */
import type { Score } from "../../episode/index.js";
import type { HarborSettings, HarborTask } from "../../tasks/index.js";

/** A number stands for the reward; a key that the score does not have is below every minimum. */
export function reachesMinimum({ reward, parts }: Score, minimum: HarborSettings["steps"][number]["min_reward"]): boolean {
	if (minimum === undefined) return true;
	const wanted = typeof minimum === "number" ? { reward: minimum } : minimum;
	return Object.entries(wanted).every(([key, least]) => (key === "reward" ? reward : (parts?.[key] ?? Number.NEGATIVE_INFINITY)) >= least);
}

/** `mean`: over all steps, those that were not played count as 0; `final`: that of the last step that was played. */
export function totalOf(scores: readonly Score[], { settings, steps }: HarborTask): Score {
	const last = scores.at(-1) as Score;
	if (steps.length === 0) return last;
	const evidence = scores.flatMap((score) => score.evidence);
	const why = scores.find(({ tamperable }) => tamperable !== undefined)?.tamperable;
	const parts = Object.fromEntries(scores.map(({ reward }, at) => [steps[at]?.name ?? String(at), reward]));
	const mean = scores.reduce((total, { reward }) => total + reward, 0) / steps.length;
	const reward = settings.multi_step_reward_strategy === "final" ? last.reward : mean;
	return { reward, parts: { ...last.parts, ...parts }, evidence, ...(why === undefined ? {} : { tamperable: why }) };
}
