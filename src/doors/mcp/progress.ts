/** Signs of life for a client that sent a progress token: what the tool says, and something every few seconds even if it is silent. */
import type { ServerContext } from "@modelcontextprotocol/server";

const LOOK_MS = 1_000;
const SILENT_MS = 5_000;

export interface ProgressReport {
	say(message: string): void;
	end(): void;
}

/** undefined: the client has not asked for it. */
export function reportProgress(context: ServerContext): ProgressReport | undefined {
	const progressToken = context.mcpReq._meta?.progressToken;
	if (progressToken === undefined) return undefined;
	const started = performance.now();
	let sentAt = started;
	let news: string | undefined;
	// However much there is to say, at most once a look: this is for people, and a flood would slow the call itself.
	const timer = setInterval(() => {
		const now = performance.now();
		if (news === undefined && now - sentAt < SILENT_MS) return;
		sentAt = now;
		const seconds = Math.round(now - started) / 1_000; // must grow from one to the next; the total is not known
		const message = news ?? `${Math.round(seconds)} s`;
		news = undefined;
		const sent = context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: seconds, message } });
		sent.catch(() => {}); // the connection is gone; the call goes on
	}, LOOK_MS);
	return {
		say: (message) => {
			news = message;
		},
		end: () => clearInterval(timer),
	};
}
