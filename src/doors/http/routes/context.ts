/** The context of the routes of the API. */
import type { Context } from "hono";
import { REMOTE_MS } from "../../../base/index.js";
import type { Process, Viewers } from "../../../process/index.js";
import type { AgentRuntime } from "../../../tools/index.js";
import type { Events } from "../events.js";
import type { Failures } from "../guard.js";
import type { Logouts } from "../logouts.js";
import type { SitePart } from "../part-types.js";
import type { PreviewBase } from "../previews/names.js";
import type { PublicUrl } from "../public-url.js";
import type { Tickets } from "../tickets.js";
import type { Views } from "../views.js";

export interface ApiContext {
	readonly runtime: AgentRuntime;
	readonly token: string;
	readonly views: Views;
	readonly events: Events;
	readonly tickets: Tickets;
	readonly viewers: Viewers;
	readonly logouts: Logouts;
	readonly failures: Failures;
	readonly cookieName: (context: Context) => string;
	/** The address by which the visitor has come. */
	readonly reached: (context: Context) => PublicUrl;
	/** The address for a link that the visitor gives to another one. */
	readonly shared: (context: Context) => string;
	/** Whether MCP is served beside it. */
	readonly mcp: boolean;
	/** Views of the page from other packages. */
	readonly parts: readonly SitePart[];
	/** The names of previews; undefined if such names cannot lead to this server. */
	readonly previews: readonly PreviewBase[] | undefined;
	/** A read-only link was revoked: viewers with it are disconnected. */
	readonly withdrawn: (viewer: string) => void;
	/** Ends a session of a browser, and what it has open here. */
	readonly loggedOut: (session: string) => void;
}

export const processOf = ({ runtime }: ApiContext, params: Readonly<Record<string, string>>): Process => runtime.get(params.id ?? "");

/** The same, as it is now. */
export const freshOf = async (api: ApiContext, params: Readonly<Record<string, string>>): Promise<Process> =>
	(await fresh([processOf(api, params)]))[0] as Process;

/** Processes as they are now, as far as their machines answer in time; `note` of each says when one did not. */
export async function fresh(processes: readonly Process[]): Promise<readonly Process[]> {
	await Promise.all(processes.map((process) => process.sync(undefined, REMOTE_MS.page)));
	return processes;
}
