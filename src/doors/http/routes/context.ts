/** What the routes of the API work with. */
import type { Process } from "../../../process/process.js";
import type { AgentRuntime } from "../../../tools/index.js";
import type { Events } from "../events.js";
import type { Failures } from "../guard.js";
import type { Tickets } from "../tickets.js";
import type { Viewers } from "../viewers.js";
import type { Views } from "../views.js";

export interface ApiContext {
	readonly runtime: AgentRuntime;
	readonly token: string;
	readonly views: Views;
	readonly events: Events;
	readonly tickets: Tickets;
	readonly viewers: Viewers;
	readonly failures: Failures;
	readonly cookieName: () => string;
	/** http://HOST:PORT */
	readonly origin: () => string;
	/** A viewer's link was withdrawn: whoever looks with it must go. */
	readonly withdrawn: (viewer: string) => void;
}

/** How long a request waits for another machine before it is answered with what was last seen of it. */
const LOOK_MS = 3_000;

export const processOf = ({ runtime }: ApiContext, params: Readonly<Record<string, string>>): Process => runtime.get(params.id ?? "");

/** The same, as it is now. */
export const freshOf = async (api: ApiContext, params: Readonly<Record<string, string>>): Promise<Process> =>
	(await fresh([processOf(api, params)]))[0] as Process;

/** Processes as they are now, as far as their machines answer in time; `note` of each says when one did not. */
export async function fresh(processes: readonly Process[]): Promise<readonly Process[]> {
	await Promise.all(processes.map((process) => process.sync(undefined, LOOK_MS)));
	return processes;
}
