/** Telegram: the real grammy against a double of the Bot API. */
import path from "node:path";
import { describe, expect, it } from "vitest";
import { Outbox } from "../../../src/gateway/outbox.js";
import { OutboxStore } from "../../../src/gateway/outbox-store.js";
import { type Incoming, PLATFORMS, type Platform } from "../../../src/gateway/platforms/index.js";
import { atEnd, tempDir, until } from "../../support/dirs.js";
import { TelegramDouble } from "./doubles/telegram.js";
import { platformContract, type Stage } from "./suite.js";

const QUICK = { firstMs: 20, longestMs: 100 };
const open = (apiRoot: string, token = "1:TEST"): Promise<Platform> =>
	(PLATFORMS.telegram as NonNullable<typeof PLATFORMS.telegram>).open({ apiRoot }, { token }, QUICK);

async function stageOf(): Promise<Stage> {
	const double = new TelegramDouble();
	const root = await double.listen();
	let people = 7;
	return {
		open: (how) => open(root, how?.wrongKey ? "2:WRONG" : "1:TEST"),
		chat: async () => {
			const id = people++;
			return {
				ref: { id: String(id), kind: "direct" },
				person: String(id),
				say: async (text, file) => void (file ? double.sayWithFile(id, text, file.name, file.bytes) : double.say(id, text)),
				typed: () => double.calls.filter(({ method, body }) => method === "sendChatAction" && Number(body.chat_id) === id).length,
				tap: async (message, data) => double.tap(id, Number(message.split(":")[1]), data),
				shown: async () =>
					double.sent
						.filter((message) => message.chat.id === id)
						.map((message) => {
							const bytes = double.fileOf(message);
							return {
								id: `${id}:${message.message_id}`,
								text: message.text ?? message.caption ?? "",
								buttons: message.reply_markup?.inline_keyboard.flat().map(({ text }) => text) ?? [],
								...(bytes ? { file: { name: message.document?.file_name ?? "", bytes } } : {}),
							};
						}),
			};
		},
		deadChat: async () => {
			double.dead.add(666);
			return { id: "666", kind: "direct" };
		},
		cut: (when, marker) => void double.faults.push({ method: "sendMessage", kind: when === "before" ? "cut-before" : "cut-after", marker }),
		flood: (seconds) => void double.faults.push({ method: "sendMessage", kind: "429", seconds }),
		drop: () => double.drop(),
		revoke: async (revoked) => {
			double.token = revoked ? "1:OTHER" : "1:TEST";
		},
		other: async () => {
			double.taken = "poll";
			return async () => {
				double.taken = undefined;
			};
		},
		strange: () => double.strange.splice(0),
		close: () => double.close(),
	};
}

platformContract("telegram", stageOf, { rendered: /^bold and code$/ });

describe("telegram", () => {
	const never = new AbortController().signal;
	async function running(): Promise<{ double: TelegramDouble; platform: Platform; messages: Incoming[] }> {
		const double = new TelegramDouble();
		const platform = await open(await double.listen());
		const stop = new AbortController();
		const messages: Incoming[] = [];
		const done = platform.run({ message: async (one) => void messages.push(one), tapped: async () => undefined, connection: () => undefined }, stop.signal);
		atEnd(async () => {
			stop.abort();
			await done;
			await double.close();
			expect(double.strange).toEqual([]);
		});
		return { double, platform, messages };
	}

	it("sends entities with UTF-16 offsets, and code overlaps none", async () => {
		const { double, platform } = await running();
		await platform.send(
			{
				id: "a",
				chat: { id: "7", kind: "direct" },
				rings: false,
				text: "# 😀 Title\n\n**bold `code` end** [site](https://x.test)\n\n> quoted\n\n```sh\nls\n```",
			},
			never,
		);
		const { text = "", entities } = double.sent[0] ?? {};
		const parts = (entities as { type: string; offset: number; length: number; url?: string; language?: string }[]).map(
			(one) => `${one.type} ${text.slice(one.offset, one.offset + one.length)}`,
		);
		expect(parts).toEqual(["bold 😀 Title", "bold bold ", "code code", "bold  end", "text_link site", "blockquote quoted", "pre ls"]);
		expect(double.sent[0]).toMatchObject({ disable_notification: true });
	});

	it("a long answer is opened and filled: cut at either, it is there once, and at most its opening comes twice, marked", async () => {
		const { double, platform } = await running();
		const outbox = new Outbox({ store: new OutboxStore(path.join(tempDir("outbox"), "outbox.jsonl")), platform, firstWaitMs: 20 });
		outbox.start();
		const text = `${"The build has failed in step three, and this is why. ".repeat(10)}The end.`;
		double.faults.push(
			{ method: "sendMessage", kind: "cut-after" },
			{ method: "editMessageText", kind: "cut-after" },
			{ method: "editMessageText", kind: "cut-before" },
		);
		await outbox.put({ id: "a", chat: { id: "7", kind: "direct" }, rings: true, text });
		await until("it is settled", () => outbox.store.size === 0);
		await outbox.close();
		const [first, second, ...more] = double.sent;
		expect(more).toEqual([]);
		expect(first?.text?.length).toBeLessThanOrEqual(200);
		expect(text.startsWith(first?.text?.replace(/ ?…$/, "") ?? "x")).toBe(true);
		expect(second?.text).toBe(text);
	});

	it("a group message counts as addressed by mention, command or reply, and has its topic as thread, where the answer goes", async () => {
		const { double, platform, messages } = await running();
		const chat = { id: -100, type: "supergroup", title: "Team\u202e\nroom" };
		const mention = { entities: [{ type: "mention", offset: 0, length: 13 }] };
		double.say(7, "hello all", { chat });
		double.say(7, "@holdfast_bot hello", { chat, ...mention });
		double.say(7, "/status@holdfast_bot", { chat });
		double.say(7, "/status@other_bot", { chat });
		double.say(7, "yes", { chat, message_thread_id: 5, is_topic_message: true, reply_to_message: { message_id: 1, from: { id: 1 } } });
		await until("all", () => messages.length === 5);
		expect(messages.map(({ text, addressed }) => [text, addressed])).toEqual([
			["hello all", false],
			["hello", true],
			["/status", true],
			["/status@other_bot", false],
			["yes", true],
		]);
		expect(messages[4]).toMatchObject({ chat: { id: "-100", kind: "group", thread: "5", name: "Team room" }, replyTo: "-100:1" });
		await platform.send({ id: "a", chat: (messages[4] as Incoming).chat, rings: true, text: "in the topic" }, never);
		expect(double.calls.findLast(({ method }) => method === "sendMessage")?.body).toMatchObject({ chat_id: -100, message_thread_id: 5 });
	});

	it("a batch is confirmed only up to the message that was stored", async () => {
		const double = new TelegramDouble();
		const platform = await open(await double.listen());
		for (const text of ["one", "two", "three"]) double.say(7, text);
		const stop = new AbortController();
		const seen: string[] = [];
		const message = async ({ text }: Incoming): Promise<void> => {
			seen.push(text);
			if (text === "two") throw new Error("no space left on device");
		};
		const done = platform.run({ message, tapped: async () => undefined, connection: () => undefined }, stop.signal);
		await until("two again", () => seen.filter((text) => text === "two").length === 2);
		stop.abort();
		await done;
		expect(seen.slice(0, 3)).toEqual(["one", "two", "two"]);
		expect(double.waiting).toBe(2);
		await double.close();
	});

	it("a long text with a file is refused, 500 is unsure, a refused connection is not sent, and a webhook of another program is told at once", async () => {
		const { double, platform } = await running();
		const out = { id: "a", chat: { id: "7", kind: "direct" as const }, rings: true, text: "x".repeat(1025) };
		await expect(platform.send({ ...out, file: { name: "a", bytes: new Uint8Array(1) } }, never)).rejects.toMatchObject({ kind: "refused" });
		double.faults.push({ method: "sendMessage", kind: "500" });
		await expect(platform.send(out, never)).rejects.toMatchObject({ kind: "unsure" });
		await expect((await open("http://127.0.0.1:1")).send(out, never)).rejects.toMatchObject({ kind: "not-sent" });
		const second = new TelegramDouble();
		const other = await open(await second.listen());
		atEnd(() => second.close());
		second.taken = "webhook";
		const run = other.run({ message: async () => undefined, tapped: async () => undefined, connection: () => undefined }, never);
		await expect(run).rejects.toMatchObject({ kind: "taken", message: expect.stringContaining("deleteWebhook") });
		expect(second.calls.filter(({ method }) => method === "getUpdates").length).toBe(1);
	});
});
