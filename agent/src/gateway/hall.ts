/** The parts that all chats of a gateway share. */
import type { Runtime } from "holdfast";
import type { AgentHome, Clock, KeyRing } from "../base/index.js";
import type { AgentSettings } from "../chat/index.js";
import type { Counters } from "./counters.js";
import type { Outbox } from "./outbox.js";
import type { GatewayPaths } from "./paths.js";
import type { People } from "./people.js";
import type { Platform } from "./platforms/platform.js";

export interface Hall {
	readonly home: AgentHome;
	readonly paths: GatewayPaths;
	readonly settings: AgentSettings;
	readonly runtime: Runtime;
	readonly keys: KeyRing;
	readonly people: People;
	readonly clock: Clock;
	/** The start directory of new conversations' shells. */
	readonly cwd: string;
	readonly counters: Counters;
	/** How often the same step may be cut short within an hour before the person is asked; default: as a conversation has it. */
	readonly crashes?: number | undefined;
	/** For the log of the gateway: what went wrong without a person to tell it to. */
	report(text: string): void;
}

/** A platform that is in use. */
export interface Link {
	/** As agent.json names it: the same platform may be there twice. */
	readonly name: string;
	readonly platform: Platform;
	readonly outbox: Outbox;
}
