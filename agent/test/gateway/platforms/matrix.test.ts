/** Matrix against a double of a homeserver: there is none in Debian that could be installed for a test. */
import { describe, expect, it } from "vitest";
import { matrixText } from "../../../src/gateway/platforms/format/matrix.js";
import { type Incoming, PLATFORMS, type Platform } from "../../../src/gateway/platforms/index.js";
import { atEnd, until } from "../../support/dirs.js";
import { MatrixDouble } from "./doubles/matrix.js";
import { platformContract, type Stage } from "./suite.js";

const QUICK = { firstMs: 20, longestMs: 100 };
const open = (homeserver: string, token = "syt_test"): Promise<Platform> =>
	(PLATFORMS.matrix as NonNullable<typeof PLATFORMS.matrix>).open({ homeserver }, { token }, QUICK);

async function stageOf(): Promise<Stage> {
	const double = new MatrixDouble();
	const url = await double.listen();
	let people = 0;
	return {
		open: (how) => open(url, how?.wrongKey ? "wrong" : "syt_test"),
		chat: async () => {
			const [room, person] = [`!r${++people}:test`, `@jo${people}:test`];
			double.joined.set(room, 2);
			return {
				ref: { id: room, kind: "direct" },
				person,
				say: async (text, file) => void (file ? double.sayWithFile(room, person, text, file.name, file.bytes) : double.say(room, person, text)),
				typed: () => double.typings.filter((one) => one === room).length,
				shown: async () => {
					const own = double.events.filter((event) => event.room === room && event.sender === "@holdfast:test");
					const edits = own.flatMap(({ content }) =>
						"m.new_content" in content ? [content as { "m.new_content": { body: string }; "m.relates_to": { event_id: string } }] : [],
					);
					return own
						.filter(({ content }) => !("m.new_content" in content))
						.map(({ event_id: id, content }) => {
							const bytes = double.mediaOf(String(content.url ?? ""));
							const text = edits.findLast((edit) => edit["m.relates_to"].event_id === id)?.["m.new_content"].body ?? String(content.body);
							return { id, text, ...(bytes ? { file: { name: String(content.filename), bytes } } : {}) };
						});
				},
			};
		},
		deadChat: async () => ({ id: "!gone:test", kind: "group" }),
		cut: (when, marker) => void double.faults.push({ kind: when === "before" ? "cut-before" : "cut-after", marker }),
		flood: (seconds) => void double.faults.push({ kind: "429", seconds }),
		drop: () => double.drop(),
		dropForLong: () => {
			double.timeline = 1; // the server does not answer with all that was missed
			double.drop();
		},
		revoke: async (revoked) => {
			double.token = revoked ? "other" : "syt_test";
		},
		strange: () => double.strange.splice(0),
		close: () => double.close(),
	};
}

platformContract("matrix", stageOf, {
	rendered: /^\*bold\* and `code`$/,
	without: {
		"a second program with the token is told of": "Matrix sends everything to each program with a token",
	},
});

describe("matrix", () => {
	it("writes HTML beside the text, with what is no mark escaped", () => {
		expect(matrixText('**a <b>** [x](javascript:alert) "q"\n\n```sh\nls <x>\n```').formatted_body).toBe(
			'<strong>a &lt;b&gt;</strong> <a href="">x</a> &quot;q&quot;<br><br><pre><code class="language-sh">ls &lt;x&gt;</code></pre>',
		);
	});

	it("joins when invited and hears what was said before it came; a room of three wants a mention or a reply; a thread is answered in it; its own edits and notices are no messages", async () => {
		const double = new MatrixDouble();
		const platform = await open(await double.listen());
		const [stop, messages, states]: [AbortController, Incoming[], boolean[]] = [new AbortController(), [], []];
		const done = platform.run(
			{ message: async (one) => void messages.push(one), tapped: async () => undefined, connection: ({ up }) => void states.push(up) },
			stop.signal,
		);
		atEnd(async () => {
			stop.abort();
			await done;
			await double.close();
			expect(double.strange).toEqual([]);
		});
		await until("connected", () => states.includes(true));
		double.invited.add("!new:test");
		double.say("!new:test", "@jo:test", "hello, are you there");
		double.wake();
		await until("joined", () => double.joined.has("!new:test"));
		double.say("!new:test", "@jo:test", "and now?");
		await until("the last", () => messages.some(({ text }) => text === "and now?"));
		double.joined.set("!team:test", 3);
		double.say("!team:test", "@jo:test", "hello all");
		double.say("!team:test", "@jo:test", "holdfast: status");
		double.say("!team:test", "@bot:test", "beep", { msgtype: "m.notice" });
		double.say("!team:test", "@jo:test", "* changed", { "m.relates_to": { rel_type: "m.replace", event_id: "$1:test" } });
		const { id } = await platform.send({ id: "a", chat: { id: "!team:test", kind: "group" }, rings: true, text: "yes?" }, new AbortController().signal);
		double.say("!team:test", "@jo:test", "> <@holdfast:test> yes?\n\ndo it", { "m.relates_to": { "m.in_reply_to": { event_id: id } } });
		await until("three", () => messages.filter(({ chat }) => chat.id === "!team:test").length === 3);
		expect(messages.filter(({ chat }) => chat.id === "!team:test").map(({ text, addressed, replyTo }) => [text, addressed, replyTo])).toEqual([
			["hello all", false, undefined],
			["status", true, undefined],
			["do it", true, id],
		]);
		double.say("!team:test", "@jo:test", "holdfast: and here", { "m.relates_to": { rel_type: "m.thread", event_id: id } });
		await until("the thread", () => messages.at(-1)?.text === "and here");
		const { chat } = messages.at(-1) as Incoming;
		expect(chat).toEqual({ id: "!team:test", kind: "group", thread: id });
		await platform.send({ id: "b", chat, rings: true, text: "in the thread" }, new AbortController().signal);
		expect(double.events.at(-1)?.content).toMatchObject({ body: "in the thread", "m.relates_to": { rel_type: "m.thread", event_id: id } });
	});
});
