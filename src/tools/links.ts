/** Creates and opens links to one terminal, and checks their options for every door. */
import * as z from "zod";
import { mustBePerson } from "../approvals/index.js";
import { HoldfastError, parseOptions } from "../base/index.js";
import { isOver, runningServer, urlsOf, type Viewer, Viewers } from "../process/index.js";
import type { AgentRuntime } from "./runtime.js";

const DAY_SECONDS = 86_400;
const LONGEST_SECONDS = 30 * DAY_SECONDS;
const KEYBOARD_SECONDS = 600;

const optionsSchema = z.lazy(() =>
	z.strictObject({
		session_id: z.string(),
		seconds: z.number().int().min(60).max(LONGEST_SECONDS).optional(),
		keyboard: z.boolean().optional(),
		origin: z.custom<string>(isOrigin, "must be an address that begins with http:// or https://, without ? and #").optional(),
	}),
);

function isOrigin(value: unknown): boolean {
	return typeof value === "string" && /^https?:\/\/[^?#\s]+$/i.test(value) && URL.canParse(value);
}

/** A created link. Servers never log the part after `#`. */
export interface MadeLink extends Viewer {
	/** The end of its address: `#view=SECRET` or `#keys=SECRET`. Shown only once. */
	readonly hash: string;
	/** The full address; null if no origin was given and no server runs on this home. */
	readonly url: string | null;
}

export interface LinkOptions {
	readonly session_id: string;
	readonly seconds?: number | undefined;
	readonly keyboard?: boolean | undefined;
	/** The address of the page, as a browser writes it. Default: the server that runs on this home. */
	readonly origin?: string | undefined;
}

/**
 * Creates a link. Throws INVALID for unknown or wrong options, NOT_FOUND for an unknown process, ENDED for the keyboard of an ended process, FORBIDDEN
 * inside a process of an agent.
 */
export function makeLink(runtime: AgentRuntime, options: LinkOptions): MadeLink {
	const given = parseOptions("a link", optionsSchema, options);
	mustBePerson(runtime.home);
	const { session_id, keyboard = false, seconds = keyboard ? KEYBOARD_SECONDS : DAY_SECONDS } = given;
	if (keyboard && seconds > DAY_SECONDS) throw new HoldfastError("INVALID", `a link: with the keyboard it works for ${DAY_SECONDS} seconds at most, a day`);
	const process = runtime.get(session_id);
	if (keyboard && isOver(process.status())) throw new HoldfastError("ENDED", `${process.id} has ended, so its keyboard is of no use; nothing was made`);
	const { viewer, secret } = new Viewers(runtime.home).create(process.id, seconds, { keyboard });
	const hash = `#${keyboard ? "keys" : "view"}=${secret}`;
	const server = runningServer(runtime.home.root);
	const origin = given.origin ?? (server && urlsOf(server)[0]);
	return { ...viewer, hash, url: origin === undefined ? null : `${origin.replace(/\/+$/, "")}/${hash}` };
}

/** Opens a keyboard link, which works once. A link whose process has ended is removed. */
export function openLink(runtime: AgentRuntime, secret: string): { viewer: Viewer; secret: string } {
	const viewers = new Viewers(runtime.home);
	const opened = viewers.open(secret);
	const process = runtime.registry.matching(opened.viewer.session_id)?.[0];
	if (process && !isOver(process.status())) return opened;
	viewers.remove(opened.viewer.id);
	throw new HoldfastError("ENDED", `${opened.viewer.session_id} has ended, and this link with it`);
}
