/** Discord: the real discord.js against a double of the API and the gateway. */
import { describe, expect, it } from "vitest";
import { discordText } from "../../../src/gateway/platforms/format/discord.js";
import { type Incoming, PLATFORMS, type Platform } from "../../../src/gateway/platforms/index.js";
import { atEnd, until } from "../../support/dirs.js";
import { DiscordDouble } from "./doubles/discord.js";
import { platformContract, type Stage } from "./suite.js";

const QUICK = { firstMs: 20, longestMs: 100 };
const open = (api: string, token = "x.y.z"): Promise<Platform> => (PLATFORMS.discord as NonNullable<typeof PLATFORMS.discord>).open({ api }, { token }, QUICK);

async function stageOf(): Promise<Stage> {
	const double = new DiscordDouble();
	const api = await double.listen();
	let people = 900;
	return {
		open: (how) => open(api, how?.wrongKey ? "w.r.ong" : "x.y.z"),
		chat: async () => {
			const [channel, person] = [`${++people}`, `${people + 1000}`];
			return {
				ref: { id: channel, kind: "direct" },
				person,
				say: async (text, file) => (file ? double.sayWithFile(channel, person, text, file.name, file.bytes) : double.say(channel, person, text)),
				typed: () => double.typings.filter((one) => one === channel).length,
				tap: async (message, data) => double.tap(channel, person, message, data),
				shown: async () =>
					double.messages
						.filter((message) => message.channel_id === channel && message.author.bot)
						.map((message) => {
							const file = double.fileOf(message);
							const buttons = message.components.flatMap(({ components }) => components.map(({ label }) => label));
							return { id: message.id, text: message.content, buttons, ...(file ? { file } : {}) };
						}),
			};
		},
		deadChat: async () => {
			double.dead.add("666");
			return { id: "666", kind: "direct" };
		},
		cut: (when, marker) => void double.faults.push({ kind: when === "before" ? "cut-before" : "cut-after", marker }),
		flood: (seconds) => void double.faults.push({ kind: "429", seconds }),
		drop: () => double.drop(),
		dropForLong: () => double.drop({ forLong: true }),
		revoke: async (revoked) => {
			double.token = revoked ? "o.t.her" : "x.y.z";
		},
		strange: () => double.strange.splice(0),
		close: () => double.close(),
	};
}

platformContract("discord", stageOf, {
	rendered: /^\*\*bold\*\* and `code`$/,
	without: { "a second program with the token is told of": "Discord sends everything to each connection of a bot" },
});

describe("discord", () => {
	const never = new AbortController().signal;

	it("escapes what is no mark, and keeps a fence closed", () => {
		expect(discordText("**a_b** 2 \\* 3 [x](https://x.test)\n\n```sh\necho `a`\n```\n\n> q\n\n\\# no title")).toBe(
			"**a\\_b** 2 \\* 3 [x](<https://x.test>)\n\n```sh\necho `a`\n```\n\n> q\n\n\\# no title",
		);
	});

	it("a server message counts as addressed by a mention or a reply; a found nonce, a toast and silence are as Discord wants them", async () => {
		const double = new DiscordDouble();
		const platform = await open(await double.listen());
		const [stop, messages, states]: [AbortController, Incoming[], boolean[]] = [new AbortController(), [], []];
		const done = platform.run(
			{ message: async (one) => void messages.push(one), tapped: async (tap) => tap.show("answered by Jo"), connection: ({ up }) => void states.push(up) },
			stop.signal,
		);
		atEnd(async () => {
			stop.abort();
			await done;
			await double.close();
			expect(double.strange).toEqual([]);
		});
		await until("connected", () => states.includes(true));
		double.say("77", "7", "hello all", { guild_id: "5" });
		double.say("77", "7", "<@42> status", { guild_id: "5", mentions: [{ id: "42" }] });
		double.say("77", "7", "yes", { guild_id: "5", type: 19, message_reference: { message_id: "11" }, referenced_message: { author: { id: "42" } } });
		double.say("77", "8", "beep", { guild_id: "5", author: { id: "8", username: "b", bot: true } });
		await until("three", () => messages.length === 3);
		expect(messages.map(({ text, addressed, chat, replyTo }) => [text, addressed, chat, replyTo])).toEqual([
			["hello all", false, { id: "77", kind: "group" }, undefined],
			["status", true, { id: "77", kind: "group" }, undefined],
			["yes", true, { id: "77", kind: "group" }, "11"],
		]);
		const out = { id: "dlv_1", chat: { id: "77", kind: "group" as const }, rings: false, text: "@everyone hi", buttons: [{ label: "No", data: "ap:1:no" }] };
		expect(await platform.find?.(out, never)).toBeUndefined();
		const { id } = await platform.send(out, never);
		expect(await platform.find?.(out, never)).toEqual({ id });
		expect(double.messages.at(-1)).toMatchObject({ flags: 4100, allowed_mentions: { parse: [] } });
		double.tap("77", "7", id, "ap:1:no");
		await until("the toast", () => double.answers.length === 1);
		expect(double.answers[0]).toMatchObject({ type: 4, data: { content: "answered by Jo", flags: 64 } });
	});
});
