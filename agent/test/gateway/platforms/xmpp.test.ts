/** XMPP against a real prosody. */
import { xml } from "@xmpp/client";
import { describe, expect, it } from "vitest";
import { type Incoming, PLATFORMS, type Platform } from "../../../src/gateway/platforms/index.js";
import { atEnd, until } from "../../support/dirs.js";
import { missing } from "./servers/daemon.js";
import { CuttableLine } from "./servers/line.js";
import { PROSODY, startProsody, XmppPerson } from "./servers/prosody.js";
import { platformContract, type Stage, type StageChat } from "./suite.js";

const QUICK = { firstMs: 20, longestMs: 200 };
const open = (port: number, more: object = {}, password = "secret"): Promise<Platform> =>
	(PLATFORMS.xmpp as NonNullable<typeof PLATFORMS.xmpp>).open({ jid: "holdfast@localhost", service: `xmpp://127.0.0.1:${port}`, ...more }, { password }, QUICK);

async function stageOf(): Promise<Stage> {
	const server = await startProsody();
	const line = new CuttableLine(server.port);
	const port = await line.listen();
	const people: XmppPerson[] = [];
	return {
		open: (how) => open(port, {}, how?.wrongKey ? "wrong" : "secret"),
		chat: async (): Promise<StageChat> => {
			const name = `jo${people.length}`;
			server.account(name, "secret");
			const jo = await new XmppPerson(server.port, name).ready();
			people.push(jo);
			return {
				ref: { id: `${name}@localhost`, kind: "direct" },
				person: `${name}@localhost`,
				say: (text) => jo.say(text),
				shown: async () => jo.got,
				typed: () => jo.composing,
			};
		},
		deadChat: async () => ({ id: "nobody@localhost", kind: "direct" }),
		cut: (when, marker) => line.cutAt(when, marker),
		drop: () => line.drop(),
		revoke: async (revoked) => server.account("holdfast", revoked ? "changed" : "secret"),
		close: async () => {
			for (const jo of people) await jo.close();
			await line.close();
			await server.close();
		},
	};
}

platformContract("xmpp", stageOf, {
	skip: missing(PROSODY),
	rendered: /^\*bold\* and `code`$/,
	without: {
		"a line that was cut for long: what was missed is read before what is live": "the archive has it: below",
		"a flood wait is an error with its end, and nothing was shown": "servers slow the connection down instead",
		"a second program with the token is told of": "the older connection is told: below",
	},
});

describe.skipIf(missing(PROSODY))("xmpp", () => {
	const never = new AbortController().signal;

	it.each([
		["an archive", {}],
		["no archive", { archive: false }],
	])("hears what is said between its look into the archive and its presence, on a server with %s", async (_, options) => {
		const server = await startProsody(options);
		const line = new CuttableLine(server.port);
		server.account("jo", "secret");
		const platform = await open(await line.listen());
		const [stop, messages, states]: [AbortController, Incoming[], boolean[]] = [new AbortController(), [], []];
		const done = platform.run(
			{ message: async (one) => void messages.push(one), tapped: async () => undefined, connection: ({ up }) => void states.push(up) },
			stop.signal,
		);
		const jo = await new XmppPerson(server.port, "jo").ready();
		atEnd(async () => {
			stop.abort();
			await done;
			await jo.close();
			await line.close();
			await server.close();
		});
		await until("connected", () => states.includes(true));
		await jo.say("before");
		await until("the first", () => messages.length === 1);
		const gate = line.holdAt("<presence");
		line.drop();
		await gate.reached;
		await jo.say("between");
		gate.open();
		await until("up again", () => states.join() === "true,false,true");
		await jo.say("after");
		await until("the last", () => messages.some(({ text }) => text === "after"));
		expect(messages.map(({ text }) => text)).toEqual(["before", "between", "after"]);
	});

	it("speaks in rooms, finds its messages in their archive, and is told when another program takes the account", async () => {
		const server = await startProsody();
		atEnd(server.close);
		server.account("jo", "secret");
		const platform = await open(server.port, { rooms: ["team@rooms.localhost"], nick: "Holdfast" });
		const [stop, messages, states]: [AbortController, Incoming[], boolean[]] = [new AbortController(), [], []];
		const done = platform
			.run({ message: async (one) => void messages.push(one), tapped: async () => undefined, connection: ({ up }) => void states.push(up) }, stop.signal)
			.catch((error: unknown) => error);
		atEnd(async () => {
			stop.abort();
			await done;
		});
		await until("connected", () => states.includes(true));
		const jo = await new XmppPerson(server.port, "jo").ready();
		atEnd(() => jo.close());
		const here: string[] = [];
		jo.client.on("stanza", (stanza) => void (stanza.is("presence") && here.push(stanza.attrs.from ?? "")));
		await jo.client.send(xml("presence", { to: "team@rooms.localhost/jo" }, xml("x", { xmlns: "http://jabber.org/protocol/muc" })));
		await until("both are in", () => here.includes("team@rooms.localhost/Holdfast") && here.includes("team@rooms.localhost/jo"));
		for (const text of ["hello all", "holdfast: status"]) await jo.say(text, "team@rooms.localhost", "groupchat");
		await until("both", () => messages.length === 2);
		expect(messages.map(({ text, addressed, chat, person }) => [text, addressed, chat, person.id])).toEqual([
			["hello all", false, { id: "team@rooms.localhost", kind: "group" }, "team@rooms.localhost/jo"],
			["status", true, { id: "team@rooms.localhost", kind: "group" }, "team@rooms.localhost/jo"],
		]);
		const out = { id: "dlv_1", chat: { id: "team@rooms.localhost", kind: "group" as const }, rings: true, text: "here" };
		expect(await platform.find?.(out, never)).toBeUndefined();
		await platform.send(out, never);
		await until("jo reads it", () => jo.got.some(({ text }) => text === "here"));
		expect(await platform.find?.(out, never)).toEqual({ id: "dlv_1" });
		expect(messages.length).toBe(2); // not its own
		const other = await new XmppPerson(server.port, "holdfast", "holdfast").ready();
		atEnd(() => other.close());
		expect(await done).toMatchObject({ name: "PlatformError", kind: "taken" });
	});
});
