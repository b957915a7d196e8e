/** Slack: the real libraries against a double of the Web API and Socket Mode. */
import { describe, expect, it } from "vitest";
import { slackText } from "../../../src/gateway/platforms/format/slack.js";
import { type Incoming, PLATFORMS, type Platform } from "../../../src/gateway/platforms/index.js";
import { atEnd, until } from "../../support/dirs.js";
import { SlackDouble } from "./doubles/slack.js";
import { platformContract, type Stage } from "./suite.js";

const QUICK = { firstMs: 20, longestMs: 100 };
const open = (apiUrl: string, botToken = "xoxb-TEST"): Promise<Platform> =>
	(PLATFORMS.slack as NonNullable<typeof PLATFORMS.slack>).open({ apiUrl }, { appToken: "xapp-TEST", botToken }, QUICK);

async function stageOf(): Promise<Stage> {
	const double = new SlackDouble();
	const url = await double.listen();
	let people = 0;
	return {
		open: (how) => open(url, how?.wrongKey ? "xoxb-WRONG" : "xoxb-TEST"),
		chat: async () => {
			const [channel, user] = [`D${++people}`, `U${people}`];
			return {
				ref: { id: channel, kind: "direct" },
				person: user,
				say: async (text, file) => (file ? double.sayWithFile(channel, user, text, file.name, file.bytes) : double.say(channel, user, text)),
				tap: async (message, data) => double.tap(channel, user, message.split(":")[1] ?? "", data),
				shown: async () =>
					double.posts
						.filter((post) => post.channel === channel && post.bot_id)
						.map((post) => {
							const file = double.fileOf(post);
							const buttons = post.blocks?.flatMap(({ elements = [] }) => elements.map(({ text }) => text.text)) ?? [];
							return { id: `${channel}:${post.ts}`, text: post.text, buttons, ...(file ? { file } : {}) };
						}),
			};
		},
		deadChat: async () => {
			double.dead.add("C666");
			return { id: "C666", kind: "group" };
		},
		cut: (when, marker) => void double.faults.push({ method: "chat.postMessage", kind: when === "before" ? "cut-before" : "cut-after", marker }),
		flood: (seconds) => void double.faults.push({ method: "chat.postMessage", kind: "429", seconds }),
		drop: () => double.drop(),
		dropForLong: () => {
			double.faults.push({ method: "conversations.history", kind: "cut-before" });
			double.drop();
		},
		revoke: async (revoked) => {
			double.revoked = revoked;
		},
		strange: () => double.strange.splice(0),
		close: () => double.close(),
	};
}

platformContract("slack", stageOf, {
	rendered: /^\*bold\* and `code`$/,
	without: {
		"a second program with the token is told of": "Slack shares events among all connections of an app",
	},
});

describe("slack", () => {
	it("writes mrkdwn with its three escapes", () => {
		expect(slackText("# Title\n\n**a < b** & *c* ~~d~~ [site](https://x.test/?a=1&b=2)\n\n> one\n> two\n\n```js\nif (a<b) {}\n```\n\n- x\n  - y")).toBe(
			"*Title*\n\n*a &lt; b* &amp; _c_ ~d~ <https://x.test/?a=1&amp;b=2|site>\n\n> one\n> two\n\n```\nif (a&lt;b) {}\n```\n\n• x\n  • y",
		);
	});

	it("a channel message counts as addressed by a mention; threads, edits and other bots are told apart; an answer goes to the thread; an event is acknowledged only when stored", async () => {
		const double = new SlackDouble();
		const platform = await open(await double.listen());
		const [stop, messages, states]: [AbortController, Incoming[], boolean[]] = [new AbortController(), [], []];
		let store: () => void = () => undefined;
		const stored = new Promise<void>((resolve) => {
			store = resolve;
		});
		const message = async (one: Incoming): Promise<void> => {
			messages.push(one);
			await stored;
		};
		const done = platform.run({ message, tapped: async () => undefined, connection: ({ up }) => void states.push(up) }, stop.signal);
		atEnd(async () => {
			stop.abort();
			await done;
			await double.close();
			expect(double.strange).toEqual([]);
		});
		await until("connected", () => states.includes(true));
		double.say("C1", "U1", "hello all");
		double.say("C1", "U1", "x", { text: "<@U0BOT> status &lt;now&gt; <https://x.test|site>" });
		double.say("C1", "U1", "changed", { subtype: "message_changed" });
		double.say("C1", "U2", "beep", { bot_id: "B2" });
		double.say("C1", "U1", "yes", { thread_ts: "1.5", parent_user_id: "U0BOT" });
		await until("the first of the channel and of the thread", () => messages.length === 2);
		await until("what is not for us is acknowledged", () => double.unacknowledged === 3);
		store();
		await until("all", () => messages.length === 3 && double.unacknowledged === 0);
		expect(messages.map(({ text, addressed, chat, replyTo }) => [text, addressed, chat, replyTo])).toEqual([
			["hello all", false, { id: "C1", kind: "group" }, undefined],
			["yes", true, { id: "C1", kind: "group", thread: "1.5" }, "C1:1.5"],
			["status <now> https://x.test", true, { id: "C1", kind: "group" }, undefined],
		]);
		await platform.send({ id: "a", chat: (messages[1] as Incoming).chat, rings: true, text: "in the thread" }, new AbortController().signal);
		expect(double.posts.at(-1)).toMatchObject({ channel: "C1", thread_ts: "1.5", text: "in the thread" });
	});
});
