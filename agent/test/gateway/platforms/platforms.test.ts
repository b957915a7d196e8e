/** What the platforms share: the table, names of strangers, markdown, missing packages. */
import net from "node:net";
import { describe, expect, it } from "vitest";
import { flatten } from "../../../src/gateway/platforms/format/flatten.js";
import { ircText, styledText } from "../../../src/gateway/platforms/format/plain.js";
import { telegramText } from "../../../src/gateway/platforms/format/telegram.js";
import { PLATFORMS, platformKind } from "../../../src/gateway/platforms/index.js";
import { cleanFileName, cleanName } from "../../../src/gateway/platforms/names.js";
import { loadPackage } from "../../../src/gateway/platforms/optional.js";
import { atEnd } from "../../support/dirs.js";

describe("platforms", () => {
	it("the table refuses unknown names and settings, and names what is missing", async () => {
		expect(Object.keys(PLATFORMS)).toEqual(["telegram", "slack", "discord", "matrix", "xmpp", "email", "irc"]);
		expect(() => platformKind("telegramm")).toThrow("did you mean telegram?");
		expect(() => platformKind("toString")).toThrow('there is no platform "toString"');
		await expect(async () => platformKind("telegram").open({ tokn: 1 }, { token: "1:A" })).rejects.toThrow(/tokn/);
		await expect(async () => platformKind("slack").open({}, { appToken: "xapp" })).rejects.toThrow('Slack needs "botToken" (Bot token (xoxb-…))');
		const mail = { address: "a@b.test", imap: { host: "imap.test", security: "none" }, smtp: { host: "smtp.test" } };
		expect(platformKind("email").settings.safeParse(mail).success).toBe(false); // a password in the clear
	});

	it.each([
		["telegram", {}, { apiRoot: "https://elsewhere.test" }, { token: "1:A" }, { token: "1:B" }],
		["slack", {}, {}, { appToken: "xapp-1", botToken: "xoxb-A" }, { appToken: "xapp-1", botToken: "xoxb-B" }],
		["discord", {}, { api: "https://elsewhere.test" }, { token: "A" }, { token: "B" }],
		["matrix", { homeserver: "https://a.test" }, { homeserver: "https://a.test", join: false }, { token: "A" }, { token: "B" }],
	])("%s: the account is that of the token, whatever else is set", (kind, settings, others, keys, otherKeys) => {
		const { account } = platformKind(kind);
		expect(account(others, keys)).toBe(account(settings, keys));
		expect(account(settings, otherKeys)).not.toBe(account(settings, keys));
	});

	it.each([
		["xmpp", { jid: "bot@a.test" }, { jid: "Bot@a.test", resource: "other", rooms: ["r@muc.a.test"] }, { jid: "jo@a.test" }],
		["irc", { host: "irc.test", nick: "bot" }, { host: "irc.test", nick: "bot", channels: ["#a"], tls: false }, { host: "irc.test", nick: "jo" }],
		[
			"email",
			{ address: "bot@a.test", imap: { host: "imap.a.test" }, smtp: { host: "smtp.a.test" } },
			{ address: "bot@a.test", imap: { host: "imap.a.test" }, smtp: { host: "other.test" }, copy: false },
			{ address: "jo@a.test", imap: { host: "imap.a.test" }, smtp: { host: "smtp.a.test" } },
		],
	])("%s: the account is that of the address, also with another password", (kind, settings, others, another) => {
		const { account } = platformKind(kind);
		expect(account(others, { password: "B" })).toBe(account(settings, { password: "A" }));
		expect(account(another, { password: "A" })).not.toBe(account(settings, { password: "A" }));
	});

	it("a missing package is a sentence with the command that installs it", async () => {
		const name = "not-a-package-of-anyone";
		await expect(loadPackage("Telegram", [name], () => import(/* @vite-ignore */ name))).rejects.toMatchObject({
			code: "UNSUPPORTED",
			message: `Telegram needs the package ${name}, not installed; run: npm install ${name}`,
		});
		await expect(loadPackage("Telegram", [name], () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
	});

	it("names of strangers have one line, no control characters and no path", () => {
		expect(cleanName("Jo\u0000\n\u202e> quote\u2028x")).toBe("Jo > quote x");
		expect(cleanName("\u200b\n")).toBeUndefined();
		expect(cleanName("😀".repeat(60))?.length).toBe(80);
		expect(["../../x", "..\\..\\y.txt", "/etc/passwd", ".bashrc", "a\u0000b/../.", "..", "con:x?.txt"].map(cleanFileName)).toEqual([
			"x",
			"y.txt",
			"passwd",
			"bashrc",
			"file",
			"file",
			"con_x_.txt",
		]);
		expect(cleanFileName(`${"n".repeat(300)}.log`)).toMatch(/^n{116}\.log$/);
	});

	it("markdown becomes text with spans that nest, and tables are aligned", () => {
		const { text, spans } = flatten("1. one **b *i***\n2. two\n   - [x] done\n\n| a | bb |\n|---|---|\n| 1 | 2 |\n\n---\n\n<b>&lt;x&gt;</b> a &lt; b");
		expect(text).toBe("1. one b i\n2. two\n   • [x] done\n\na  bb\n-  --\n1  2\n\n———\n\n<b><x></b> a < b");
		expect(spans.map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`)).toEqual(["bold b i", "italic i", "pre a  bb\n-  --\n1  2"]);
		expect(styledText("**b** [x](https://x.test) [https://y.test](https://y.test)\n> q\n\n```sh\nls\n```")).toBe(
			"*b* x (https://x.test) https://y.test\n\n> q\n\n```\nls\n```",
		);
		expect(ircText("**b** `c`\n\n```\nls\n```")).toBe("\u0002b\u0002 c\n\nls");
	});

	it("text that would keep the parser busy for long goes through as it is", () => {
		const evil = "*a _b ".repeat(20_000);
		expect(telegramText(evil)).toEqual({ text: evil.trimEnd(), entities: [] });
		expect(flatten(`${"> ".repeat(5000)}x`).text).toContain("x");
		expect(flatten("[a]: https://x.test").text).toBe("[a]: https://x.test");
	});

	it.each([
		["451 try later", "later"],
		["550 no such person", "dead"],
	])("e-mail: the server says %s to the recipient: %s", async (answer, kind) => {
		const server = net.createServer((socket) => {
			socket.on("error", () => undefined).write("220 test ESMTP\r\n");
			socket.on("data", (data) => {
				const line = String(data);
				if (line.startsWith("EHLO")) socket.write("250-test\r\n250 AUTH PLAIN\r\n");
				else if (line.startsWith("AUTH")) socket.write("235 welcome\r\n");
				else if (line.startsWith("MAIL")) socket.write("250 fine\r\n");
				else if (line.startsWith("RCPT")) socket.write(`${answer}\r\n`);
				else socket.end("221 bye\r\n");
			});
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		atEnd(() => new Promise((resolve) => server.close(resolve)));
		const here = { host: "127.0.0.1", port: (server.address() as net.AddressInfo).port, security: "none" };
		const email = await platformKind("email").open({ address: "bot@b.test", imap: here, smtp: here }, { password: "x" });
		const out = { id: "a", chat: { id: "jo@b.test", kind: "direct" as const }, rings: true, text: "hi" };
		await expect(email.send(out, new AbortController().signal)).rejects.toMatchObject({ name: "PlatformError", kind });
	});
});
