/** Tickets: for requests that cannot carry a header. One opens one thing, once, within half a minute. */
import { randomBytes } from "node:crypto";
import { HoldfastError } from "../../base/index.js";
import type { Visitor } from "./visitor.js";

export const TICKET_SECONDS = 30;
const MOST = 1_000;
const MOST_OF_VIEWER = 50; // a viewer must not keep the owner from looking

export interface TicketUse {
	/** A terminal's WebSocket, or the path that may be fetched. */
	readonly for: "terminal" | "download";
	readonly what: string;
	readonly visitor: Visitor;
}

export class Tickets {
	readonly #tickets = new Map<string, TicketUse & { until: number }>();

	issue(use: TicketUse, now = Date.now()): string {
		for (const [ticket, { until }] of this.#tickets) {
			if (until > now) break; // the oldest come first
			this.#tickets.delete(ticket);
		}
		if (use.visitor.scope === "viewer" && this.#of(use.visitor.viewer) >= MOST_OF_VIEWER)
			throw new HoldfastError("LIMIT", `${MOST_OF_VIEWER} tickets of this link wait to be used; try again in ${TICKET_SECONDS} seconds`);
		if (this.#tickets.size >= MOST) throw new HoldfastError("LIMIT", `${MOST} tickets wait to be used; try again in ${TICKET_SECONDS} seconds`);
		const ticket = randomBytes(18).toString("base64url");
		this.#tickets.set(ticket, { ...use, until: now + TICKET_SECONDS * 1000 });
		return ticket;
	}

	#of(viewer: string): number {
		return [...this.#tickets.values()].filter(({ visitor }) => visitor.scope === "viewer" && visitor.viewer === viewer).length;
	}

	/** Whatever it is asked for, it is used up now. */
	use(ticket: string, purpose: TicketUse["for"], now = Date.now()): TicketUse | undefined {
		const found = this.#tickets.get(ticket);
		this.#tickets.delete(ticket);
		return found && found.for === purpose && found.until > now ? found : undefined;
	}
}
