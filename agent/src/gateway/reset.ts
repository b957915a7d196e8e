/** When a chat begins a new conversation by itself. It is decided when a message comes, not by timers. */
import type { AgentConfig } from "../base/index.js";

export type ResetPolicy = AgentConfig["gateway"]["reset"];

/** Why a conversation that was last active then is over now; undefined: it goes on. A clock that was set back resets nothing. */
export function resetReason({ mode, minutes, at }: ResetPolicy, active: number, now: number): string | undefined {
	if (mode === "none" || now <= active) return undefined;
	if (mode !== "daily" && now - active >= minutes * 60_000) return `nothing was said for ${quiet(now - active)}`;
	if (mode !== "idle" && active < lastTime(at, now)) return `a new day began at ${at}`;
	return undefined;
}

/** The last time that local clocks showed this. A day whose change of clocks leaves it out has it later, by as much as the clocks are set forward. */
export function lastTime(at: string, now: number): number {
	const [hours = 0, minutes = 0] = at.split(":").map(Number);
	const today = new Date(now);
	for (const daysAgo of [0, 1]) {
		const time = new Date(today.getFullYear(), today.getMonth(), today.getDate() - daysAgo, hours, minutes).getTime();
		if (time <= now) return time;
	}
	return now - 86_400_000;
}

const quiet = (ms: number): string => {
	const hours = Math.floor(ms / 3_600_000);
	return hours >= 48 ? `${Math.floor(hours / 24)} days` : hours >= 2 ? `${hours} hours` : `${Math.floor(ms / 60_000)} minutes`;
};
