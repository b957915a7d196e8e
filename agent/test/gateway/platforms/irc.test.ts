/** IRC against a real ngircd; SASL, which it does not have, against a double of a few lines. */
import net from "node:net";
import { describe, expect, it } from "vitest";
import { type Incoming, PLATFORMS, type Platform } from "../../../src/gateway/platforms/index.js";
import { IrcConnection } from "../../../src/gateway/platforms/irc-connection.js";
import { ircIncoming } from "../../../src/gateway/platforms/irc-incoming.js";
import { ircPieces, parseIrcLine } from "../../../src/gateway/platforms/irc-line.js";
import { atEnd, until } from "../../support/dirs.js";
import { missing } from "./servers/daemon.js";
import { CuttableLine } from "./servers/line.js";
import { IrcPerson, NGIRCD, startNgircd } from "./servers/ngircd.js";
import { platformContract, type Stage, type StageChat } from "./suite.js";

const QUICK = { firstMs: 20, longestMs: 200 };
const open = (port: number, more: object = {}, password = "secret"): Promise<Platform> =>
	(PLATFORMS.irc as NonNullable<typeof PLATFORMS.irc>).open(
		{ host: "127.0.0.1", port, tls: false, nick: "holdfast", login: "server", lineMs: 0, ...more },
		{ password },
		QUICK,
	);

async function stageOf(): Promise<Stage> {
	const server = await startNgircd();
	const line = new CuttableLine(server.port);
	const port = await line.listen();
	const people: IrcPerson[] = [];
	return {
		open: (how) => open(port, {}, how?.wrongKey ? "wrong" : "secret"),
		chat: async (): Promise<StageChat> => {
			const nick = `jo${people.length}`;
			const jo = await new IrcPerson(server.port, nick, "secret").ready();
			people.push(jo);
			return {
				ref: { id: nick, kind: "direct" },
				person: `${nick}!~${nick}@127.0.0.1`,
				say: async (text) => jo.write(`PRIVMSG holdfast :${text}`),
				shown: async () => jo.lines.flatMap((one) => (/^:holdfast\S* PRIVMSG \S+ :(.*)$/.exec(one) ?? []).slice(1)).map((text) => ({ text })),
			};
		},
		deadChat: async () => ({ id: "nobody", kind: "direct" }),
		cut: (when, marker) => line.cutAt(when, marker),
		drop: () => line.drop(),
		revoke: async (revoked) => server.password(revoked ? "changed" : "secret"),
		close: async () => {
			for (const jo of people) jo.close();
			await line.close();
			await server.close();
		},
	};
}

platformContract("irc", stageOf, {
	skip: missing(NGIRCD),
	rendered: /^\u0002bold\u0002 and code$/,
	without: {
		"a line that was cut for long: what was missed is read before what is live": "IRC keeps nothing",
		"a flood wait is an error with its end, and nothing was shown": "IRC servers close the connection instead",
		"a message that was not stored when the gateway ended comes to the next one, with the same id": "IRC keeps nothing",
		"what was said while no gateway ran comes to the next one": "IRC keeps nothing",
		"said meanwhile": "IRC keeps nothing",
		"a second program with the token is told of": "a nick in use is usually one's own old connection",
	},
});

describe("irc", () => {
	const never = new AbortController().signal;

	it.skipIf(missing(NGIRCD))("a channel message counts as addressed if it names the bot, and answers go to the channel", async () => {
		const server = await startNgircd();
		atEnd(server.close);
		const platform = await open(server.port, { channels: ["#team"] });
		const [stop, messages, states]: [AbortController, Incoming[], boolean[]] = [new AbortController(), [], []];
		const done = platform.run(
			{ message: async (one) => void messages.push(one), tapped: async () => undefined, connection: ({ up }) => void states.push(up) },
			stop.signal,
		);
		atEnd(async () => {
			stop.abort();
			await done;
		});
		await until("connected", () => states.includes(true));
		const jo = await new IrcPerson(server.port, "jo", "secret").ready();
		atEnd(() => jo.close());
		jo.write("JOIN #team");
		await until("both are in", () => jo.lines.some((line) => / 353 .*holdfast/.test(line)));
		for (const text of ["hello all", "holdfast: status", "ask Holdfast, please", "\u0001VERSION\u0001", "\u0001ACTION waves at holdfast\u0001"])
			jo.write(`PRIVMSG #team :${text}`);
		await until("all", () => messages.length === 4);
		expect(messages.map(({ text, addressed, chat }) => [text, addressed, chat.id, chat.kind])).toEqual([
			["hello all", false, "#team", "group"],
			["status", true, "#team", "group"],
			["ask Holdfast, please", true, "#team", "group"],
			["waves at holdfast", true, "#team", "group"],
		]);
		await platform.send({ id: "a", chat: { id: "#team", kind: "group" }, rings: true, text: "one\n\ntwo\r\nQUIT :injected" }, never);
		await until("three lines", () => jo.lines.filter((line) => /^:holdfast\S* PRIVMSG #team/.test(line)).length === 3);
		await expect(platform.send({ id: "b", chat: { id: "jo :x\r\nQUIT", kind: "direct" }, rings: true, text: "x" }, never)).rejects.toMatchObject({
			kind: "refused",
		});
	});

	it("logs in with SASL PLAIN before it registers, and a refusal is kind key", async () => {
		const heard: string[] = [];
		let verdict = ":s 903 holdfast :SASL authentication successful";
		const server = net.createServer((socket) => {
			let buffer = "";
			socket
				.on("error", () => undefined)
				.on("data", (chunk) => {
					buffer += chunk;
					const lines = buffer.split("\r\n");
					buffer = lines.pop() ?? "";
					for (const line of lines) {
						heard.push(line);
						const say = (text: string): unknown => socket.write(`${text}\r\n`);
						if (line === "CAP LS 302") say(":s CAP * LS * :account-tag\r\n:s CAP * LS :sasl=PLAIN,EXTERNAL server-time");
						else if (line.startsWith("CAP REQ")) say(`:s CAP * ACK ${line.slice(8)}`);
						else if (line === "AUTHENTICATE PLAIN") say("AUTHENTICATE +");
						else if (line.startsWith("AUTHENTICATE ")) say(verdict);
						else if (line === "CAP END") say(":s 001 holdfast :welcome");
					}
				});
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		atEnd(() => new Promise((resolve) => server.close(resolve)));
		const { port } = server.address() as net.AddressInfo;
		expect((await (await open(port, { login: "sasl", account: "bot" })).account(never)).name).toBe("holdfast");
		const [, secret = ""] = heard.find((line) => /^AUTHENTICATE (?!PLAIN)/.test(line))?.split(" ") ?? [];
		expect(Buffer.from(secret, "base64").toString()).toBe("\0bot\0secret");
		verdict = ":s 904 holdfast :SASL authentication failed";
		await expect((await open(port, { login: "sasl" })).account(never)).rejects.toMatchObject({ kind: "key" });
	});

	it("the time for the handshake is over when it is done: the connection outlives it", async () => {
		const server = net.createServer((socket) => {
			socket
				.on("error", () => undefined)
				.on("data", (data) => {
					if (/^USER /m.test(String(data))) socket.write(":s 001 holdfast :welcome\r\n");
				});
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		atEnd(() => new Promise((resolve) => server.close(resolve)));
		const { port } = server.address() as net.AddressInfo;
		const login = { host: "127.0.0.1", port, tls: false, nick: "holdfast", user: "holdfast", account: "holdfast", password: undefined, login: "sasl" } as const;
		const handshake = 1_000;
		const connection = new IrcConnection(login, handshake);
		await connection.register(login, never);
		const over = AbortSignal.timeout(handshake); // begun later: when it is over, that of the handshake is too
		await new Promise((resolve) => over.addEventListener("abort", resolve));
		expect(connection.gone.aborted).toBe(false);
		connection.end();
		await connection.closed;
	});

	it("cuts lines between characters and at spaces", () => {
		const pieces = ircPieces(`${"wörd ".repeat(200)}\n\n${"😀".repeat(150)}`, 400);
		expect(pieces.every((piece) => Buffer.byteLength(piece) <= 400 && !piece.includes("\ufffd"))).toBe(true);
		expect(pieces.filter((piece) => piece.startsWith("w")).join(" ")).toBe("wörd ".repeat(200).trim());
		expect(pieces.filter((piece) => piece.startsWith("😀")).join("")).toBe("😀".repeat(150));
	});

	it("takes the account for the person where the server tells it, and notices for nothing", () => {
		const line = parseIrcLine("@account=jo;time=2026-01-02T03:04:05.678Z;msgid=m\\s1 :Jo!~j@host PRIVMSG holdfast :hi :there");
		expect(ircIncoming(line, "holdfast", () => "x")).toMatchObject({
			id: "m 1",
			person: { id: "account:jo", name: "Jo" },
			text: "hi :there",
			at: Date.parse("2026-01-02T03:04:05.678Z"),
		});
		expect(ircIncoming(parseIrcLine(":Jo!~j@host NOTICE holdfast :hi"), "holdfast", () => "x")).toBeUndefined();
	});
});
