/**
 * 200 SIGKILLs of a gateway in full traffic on three platforms at once (KILLS=n for fewer): what people said is answered once, what was called ran once, and no
 * question is lost. Once with the chat double, which breaks nothing that a real library would hide; once with the real libraries of three platforms.
 */
import path from "node:path";
import { expect, test } from "vitest";
import type { SeenRequest, Step } from "../model-server/index.js";
import { atEnd } from "../support/dirs.js";
import type { DoubleChats } from "./double.js";
import { answersEach, type Crowd, surviveKills } from "./kills.js";
import { DiscordDouble } from "./platforms/doubles/discord.js";
import { SlackDouble } from "./platforms/doubles/slack.js";
import { TelegramDouble } from "./platforms/doubles/telegram.js";
import { gateProgram, type ProgramWorld, programWorld, type RealPlatform } from "./support.js";

const KILLS = Number(process.env.KILLS ?? 200);
const HOUR = 3_600_000;
const PLATFORMS = [
	{ name: "exactly", traits: { certainty: "exact" } },
	{ name: "looked", traits: { certainty: "lookup" } },
	{ name: "filled", traits: { certainty: "fill" } },
] as const;

async function worldOf(options: Parameters<typeof programWorld>[0]): Promise<{ world: ProgramWorld; file: string }> {
	const script = { play: (_: SeenRequest): Step | string => "" };
	const config = { busy: "queue", limits: { steps: 1_000 } };
	const world = await programWorld({ script: (request) => script.play(request), config, ...options });
	const file = path.join(world.dir, "calls");
	script.play = answersEach(file);
	return { world, file };
}

test(`${KILLS} kills with the chat double`, { timeout: HOUR }, async () => {
	const { world, file } = await worldOf({ all: PLATFORMS });
	const crowdOf = (chats: DoubleChats): Crowd => ({
		name: chats.name,
		certainty: chats.traits.certainty,
		chats: ["c1", "c2", "c3", "c4"],
		write: (text, chat) => void chats.write(text, { chat }),
		seen: () =>
			chats.messages.map((one) => ({
				...{ id: one.message, text: one.text, edits: one.edits.length, buttons: one.buttons.map(({ label }) => label) },
				press: (label) => void chats.tap(one, label),
			})),
	});
	await surviveKills({ world, file, kills: KILLS, crowds: world.platforms.map(crowdOf), start: () => gateProgram(world, { crashes: 1_000_000 }) });
});

test(`${KILLS} kills with grammy, Slack's libraries and discord.js`, { timeout: HOUR }, async () => {
	const [telegram, slack, discord] = [new TelegramDouble(), new SlackDouble(), new DiscordDouble()];
	const [apiRoot, apiUrl, api] = [await telegram.listen(), await slack.listen(), await discord.listen()];
	for (const double of [telegram, slack, discord]) atEnd(() => double.close());
	const platforms: RealPlatform[] = [
		{ name: "telegram", kind: "telegram", settings: { apiRoot }, secrets: { token: "1:TEST" } },
		{ name: "slack", kind: "slack", settings: { apiUrl }, secrets: { appToken: "xapp-TEST", botToken: "xoxb-TEST" } },
		{ name: "discord", kind: "discord", settings: { api }, secrets: { token: "x.y.z" } },
	];
	const [people, users, channels] = [
		["7", "8", "9"],
		["U1", "U2", "U3"],
		["901", "902", "903"],
	] as const;
	const allowed = [...people.map((id) => `telegram/${id}`), ...users.map((id) => `slack/${id}`), ...channels.map((id) => `discord/${id}0`)];
	const { world, file } = await worldOf({ gateway: { people: Object.fromEntries(allowed.map((who) => [who, "admin"])) } });
	const crowds: Crowd[] = [
		{
			...{ name: "telegram", certainty: "fill", chats: people },
			write: (text, chat) => void telegram.say(Number(chat), text),
			seen: () =>
				telegram.sent.map((one) => {
					const buttons = one.reply_markup?.inline_keyboard.flat() ?? [];
					const press = (label: string): void => telegram.tap(one.chat.id, one.message_id, buttons.find(({ text }) => text === label)?.callback_data ?? "");
					return { id: String(one.message_id), text: one.text ?? "", buttons: buttons.map(({ text }) => text), press };
				}),
		},
		{
			...{ name: "slack", certainty: "lookup", chats: users, connected: () => slack.connected },
			write: (text, user) => slack.say(`D${user}`, user, text),
			seen: () =>
				slack.posts
					.filter(({ bot_id }) => bot_id !== undefined)
					.map((one) => {
						const buttons = one.blocks?.flatMap(({ elements = [] }) => elements) ?? [];
						const press = (label: string): void =>
							slack.tap(one.channel, one.channel.slice(1), one.ts, buttons.find(({ text }) => text.text === label)?.value ?? "");
						return { id: one.ts, text: one.text, buttons: buttons.map(({ text }) => text.text), press };
					}),
		},
		{
			...{ name: "discord", certainty: "exact", chats: channels, connected: () => discord.connected },
			write: (text, channel) => discord.say(channel, `${channel}0`, text),
			seen: () =>
				discord.messages
					.filter(({ author }) => author.bot)
					.map((one) => {
						const buttons = one.components.flatMap(({ components }) => components);
						const press = (label: string): void =>
							discord.tap(one.channel_id, `${one.channel_id}0`, one.id, buttons.find((button) => button.label === label)?.custom_id ?? "");
						return { id: one.id, text: one.content, buttons: buttons.map(({ label }) => label), press };
					}),
		},
	];
	await surviveKills({ world, file, kills: KILLS, crowds, start: () => gateProgram(world, { crashes: 1_000_000, platforms }) });
	expect([telegram.strange, slack.strange, discord.strange]).toEqual([[], [], []]);
});
