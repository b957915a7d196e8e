/** Reads messages of people on IRC. */
import { type IrcLine, ircLower, withoutCodes } from "./irc-line.js";
import { cleanName } from "./names.js";
import type { Incoming } from "./platform.js";

const isChannel = (name: string): boolean => /^[#&+!]/.test(name);

/** Returns undefined for what is no message of a person: notices are never answered, as the protocol wants it, and neither are requests of clients. */
export function ircIncoming({ command, from, params, tags }: IrcLine, nick: string, newId: () => string): Incoming | undefined {
	const [target = "", said = ""] = params;
	const [sender = ""] = from.split("!");
	if (command !== "PRIVMSG" || !from.includes("!") || ircLower(sender) === ircLower(nick)) return undefined;
	const action = /^\u0001ACTION (.*?)\u0001?$/s.exec(said)?.[1];
	if (said.startsWith("\u0001") && action === undefined) return undefined;
	const text = withoutCodes(action ?? said).trim();
	if (text === "") return undefined;
	const channel = isChannel(target);
	const mention = spokenTo(text, nick);
	const name = cleanName(sender);
	return {
		id: tags.msgid ?? newId(),
		chat: { id: ircLower(channel ? target : sender), kind: channel ? "group" : "direct", name: cleanName(channel ? target : sender) ?? "" },
		// A nick belongs to whoever takes it; the account is sure, and the address is what the server saw.
		person: { id: tags.account ? `account:${tags.account}` : `${ircLower(sender)}${from.slice(sender.length)}`, ...(name ? { name } : {}) },
		text: mention.text,
		at: Date.parse(tags.time ?? "") || Date.now(),
		addressed: !channel || mention.spoken,
		files: [],
	};
}

/** `nick: text` is said to us, and so is text with our nick in it. */
function spokenTo(text: string, nick: string): { readonly text: string; readonly spoken: boolean } {
	const lead = /^(\S+?)[:,]\s+/.exec(text);
	if (lead && ircLower(lead[1] ?? "") === ircLower(nick)) return { text: text.slice(lead[0].length), spoken: true };
	const words = text.split(/[\s,.:;!?()"'@]+/).map(ircLower);
	return { text, spoken: words.includes(ircLower(nick)) };
}
