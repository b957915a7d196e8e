/** The status that the running gateway writes: `gateway/status.json`, for `gateway status` and the page. Its claims say whether it runs at all. */
import * as z from "zod";
import { type AgentHome, Claim, fileKey, readIfThere, writeWhole } from "../base/index.js";
import { gatewayClaim, gatewayPaths } from "./paths.js";

const statusSchema = z.object({
	pid: z.number(),
	startedAt: z.string(),
	at: z.string(),
	platforms: z.array(
		z.object({
			name: z.string(),
			certainty: z.string(),
			account: z.string().optional(),
			up: z.boolean(),
			why: z.string().optional(),
			waiting: z.number(),
		}),
	),
	chats: z.object({ known: z.number(), open: z.number() }),
	counters: z.record(z.string(), z.number()),
	/** The last things that went wrong. */
	problems: z.array(z.object({ at: z.string(), text: z.string() })),
});
export type GatewayStatus = Readonly<z.infer<typeof statusSchema>>;

export interface GatewayHealth {
	readonly running: boolean;
	/** As it was last written, also by one that has ended. */
	readonly status: GatewayStatus | undefined;
}

export function writeStatus(home: AgentHome, status: GatewayStatus): void {
	writeWhole(gatewayPaths(home).status, JSON.stringify(status));
}

export function gatewayHealth(home: AgentHome): GatewayHealth {
	let status: GatewayStatus | undefined;
	try {
		status = statusSchema.safeParse(JSON.parse(readIfThere(gatewayPaths(home).status)?.toString("utf8") ?? "null")).data;
	} catch {
		status = undefined; // half a file
	}
	const running = (status?.platforms ?? []).some(({ name }) => Claim.holder(gatewayClaim(home, fileKey(name)))?.pid === status?.pid);
	return { running, status };
}
