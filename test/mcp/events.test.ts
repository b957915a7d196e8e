import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { RecentEvents } from "../../src/doors/mcp/events.js";

const large = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, result: { text: "x".repeat(1_000_000) } });

test("of large results only the newest are kept, and of the last stream all", async () => {
	const events = new RecentEvents();
	const replayed = async (id: string) => {
		const ids: unknown[] = [];
		await events.replayEventsAfter(id, { send: async (_, message) => void ids.push((message as { id?: number }).id) });
		return ids;
	};
	const began: string[] = [];
	for (let n = 1; n <= 5; n++) {
		began.push(await events.storeEvent(`call ${n}`, {} as JSONRPCMessage));
		await events.storeEvent(`call ${n}`, large(n));
	}
	expect(await Promise.all(began.map((id) => events.getStreamIdForEventId(id)))).toEqual([undefined, undefined, undefined, "call 4", "call 5"]);
	expect(await replayed(began[3] as string)).toEqual([4]);
	for (const n of [6, 7, 8]) await events.storeEvent("call 5", large(n));
	expect(await replayed(began[4] as string)).toEqual([5, 6, 7, 8]);
});
