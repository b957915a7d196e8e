/** Waits until a place is ready: the five numbers of a healthcheck, as Docker counts them. */
import { setTimeout as sleep } from "node:timers/promises";
import { EpisodeError, type ToolContext } from "../../episode/index.js";
import type { HarborSettings } from "../../tasks/index.js";

type Healthcheck = NonNullable<HarborSettings["environment"]["healthcheck"]>;
const SHOWN = 500;

/** Throws `environment/healthcheck` once it has failed `retries` times in a row after the start period. */
export async function healthy(cx: ToolContext, check: Healthcheck): Promise<void> {
	const started = Date.now();
	for (let failures = 0; ; ) {
		const starting = Date.now() - started < check.start_period_sec * 1_000;
		const { exit_code, timed_out, text } = await cx.run(check.command, { user: null, timeout: check.timeout_sec, leaveNothing: true });
		if (exit_code === 0) return;
		if (!starting) failures++; // what fails in the start period is not counted
		if (failures >= check.retries) {
			const how = timed_out ? `took longer than ${check.timeout_sec} s` : `ended with ${exit_code}`;
			throw new EpisodeError("environment", "healthcheck", `the healthcheck failed ${failures} times in a row; the last one ${how}: ${text().slice(-SHOWN)}`, {
				again: true,
			});
		}
		await sleep((starting ? check.start_interval_sec : check.interval_sec) * 1_000);
	}
}
