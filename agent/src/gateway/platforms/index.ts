/** The chat platforms: a table of what each needs, and how it is opened. The library of a platform is loaded when it is opened. */
import type { z } from "zod";
import { AgentError, nearNames } from "../../base/index.js";
import { discordSettings, openDiscord } from "./discord.js";
import { emailSettings, openEmail } from "./email.js";
import { ircSettings, openIrc } from "./irc.js";
import { matrixSettings, openMatrix } from "./matrix.js";
import type { Pace } from "./pace.js";
import type { Platform } from "./platform.js";
import { openSlack, slackSettings } from "./slack.js";
import { openTelegram, telegramSettings } from "./telegram.js";
import { openXmpp, xmppSettings } from "./xmpp.js";

/** A secret of a platform: kept with the other keys, never in the settings. */
export interface SecretKind {
	readonly name: string;
	/** The words that ask a person for it. */
	readonly label: string;
	readonly optional?: boolean;
}

export interface PlatformKind {
	readonly label: string;
	/** Steps for a person to do first: where to make the account and its secrets. agent/docs/platforms.md has more. */
	readonly steps: readonly string[];
	readonly settings: z.ZodType;
	readonly secrets: readonly SecretKind[];
	/** Returns the identity of the account that no two programs may use at once, whatever else is set. */
	account(settings: unknown, secrets: Readonly<Record<string, string>>): string;
	open(settings: unknown, secrets: Readonly<Record<string, string>>, pace?: Pace): Promise<Platform>;
}

function kind<S extends z.ZodType>(
	label: string,
	steps: readonly string[],
	settings: S,
	secrets: readonly SecretKind[],
	account: (settings: z.output<S>, secrets: Readonly<Record<string, string>>) => string | undefined,
	open: (settings: z.output<S>, secrets: Readonly<Record<string, string>>, pace?: Pace) => Promise<Platform>,
): PlatformKind {
	return {
		...{ label, steps, settings, secrets },
		account: (given, keys) => account(settings.parse(given), keys) ?? "",
		open: (given, keys, pace) => open(settings.parse(given), required(label, secrets, keys), pace),
	};
}

export const PLATFORMS: Readonly<Record<string, PlatformKind>> = {
	telegram: kind(
		"Telegram",
		["Write /newbot to @BotFather (https://t.me/BotFather). It answers with the token.", "For groups: /setprivacy, Disable."],
		telegramSettings,
		[{ name: "token", label: "Bot token from @BotFather" }],
		(_, { token }) => token,
		(settings, { token = "" }, pace) => openTelegram(settings, { token }, pace),
	),
	slack: kind(
		"Slack",
		[
			"https://api.slack.com/apps: make an app; Socket Mode and Interactivity on.",
			"App-level token with connections:write; bot scopes and events as in agent/docs/platforms.md.",
			"Install it to the workspace: then there is a bot token.",
		],
		slackSettings,
		[
			{ name: "appToken", label: "App-level token (xapp-…) with connections:write" },
			{ name: "botToken", label: "Bot token (xoxb-…)" },
		],
		(_, { botToken }) => botToken,
		openSlack,
	),
	discord: kind(
		"Discord",
		[
			"https://discord.com/developers/applications: New Application, Bot, Reset Token.",
			"Message Content Intent on; then invite the bot to a server that you share with it.",
		],
		discordSettings,
		[{ name: "token", label: "Bot token from the developer portal" }],
		(_, { token }) => token,
		openDiscord,
	),
	matrix: kind(
		"Matrix",
		["Make an account for the bot on any homeserver, and get its access token (Element: Settings, Help & About).", "Its rooms may not be encrypted."],
		matrixSettings,
		[{ name: "token", label: "Access token of the bot's account" }],
		(_, { token }) => token,
		openMatrix,
	),
	xmpp: kind(
		"XMPP",
		["Make an account for the bot on any server. jid is its address: bot@example.org."],
		xmppSettings,
		[{ name: "password", label: "Password of the XMPP account" }],
		({ jid }) => jid.toLowerCase(),
		openXmpp,
	),
	email: kind(
		"E-mail",
		["Make a mailbox for the bot alone: every unread mail in it is a message.", "imap.host and smtp.host are its servers, with TLS."],
		emailSettings,
		[
			{ name: "password", label: "Password of the mailbox (often an app password)" },
			{ name: "smtpPassword", label: "Password for sending, if it is another", optional: true },
		],
		({ address, user = address, imap }) => `${user} ${imap.host}`.toLowerCase(),
		openEmail,
	),
	irc: kind(
		"IRC",
		["Choose a nick, and register it with the NickServ of the network if it has one.", "channels, and a server without TLS: in agent.json afterwards."],
		ircSettings,
		[{ name: "password", label: "Password of the account or the server", optional: true }],
		({ host, nick }) => `${nick} ${host}`.toLowerCase(),
		openIrc,
	),
};

export function platformKind(name: string): PlatformKind {
	const found = Object.hasOwn(PLATFORMS, name) ? PLATFORMS[name] : undefined;
	if (found) return found;
	const near = nearNames(name, Object.keys(PLATFORMS));
	throw new AgentError(
		"CONFIG",
		`there is no platform "${name}"; ${near.length > 0 ? `did you mean ${near.join(" or ")}?` : `there are ${Object.keys(PLATFORMS).join(", ")}`}`,
	);
}

function required(label: string, secrets: readonly SecretKind[], keys: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
	const missing = secrets.filter(({ name, optional }) => !optional && !keys[name]);
	if (missing.length > 0) throw new AgentError("KEY", `${label} needs ${missing.map((one) => `"${one.name}" (${one.label})`).join(" and ")}`);
	return keys;
}

export * from "./platform.js";
