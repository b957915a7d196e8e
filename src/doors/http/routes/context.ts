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

export const processOf = ({ runtime }: ApiContext, params: Readonly<Record<string, string>>): Process => runtime.get(params.id ?? "");
