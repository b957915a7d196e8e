/** E-mail against a real exim and a real dovecot. */
import { describe, expect, it } from "vitest";
import { headersOf, isProved, withoutQuote } from "../../../src/gateway/platforms/email-incoming.js";
import { type Incoming, PLATFORMS, type Platform } from "../../../src/gateway/platforms/index.js";
import { atEnd, until } from "../../support/dirs.js";
import { missing } from "./servers/daemon.js";
import { CuttableLine } from "./servers/line.js";
import { MAIL, type MailServer, startMail } from "./servers/mail.js";
import { platformContract, type Shown, type Stage, type StageChat } from "./suite.js";

const QUICK = { firstMs: 50, longestMs: 400 };
const open = (imap: number, smtp: number, password = "secret", more: object = {}): Promise<Platform> =>
	(PLATFORMS.email as NonNullable<typeof PLATFORMS.email>).open(
		{
			address: "holdfast@localhost",
			user: "holdfast",
			imap: { host: "127.0.0.1", port: imap, security: "none" },
			smtp: { host: "127.0.0.1", port: smtp, security: "none" },
			...more,
		},
		{ password },
		QUICK,
	);

/** Headers and words of a mail of ours, with its file. */
function shownOf(mail: string): Shown {
	const [head = "", ...rest] = mail.split("\r\n\r\n").length > 1 ? mail.split("\r\n\r\n") : mail.split("\n\n");
	const body = rest.join("\n\n");
	const id = /^message-id:\s*<([^>]+)>/im.exec(head)?.[1] ?? "";
	const boundary = /boundary="([^"]+)"/i.exec(head)?.[1];
	const decode = (part: string, headers: string): Buffer => {
		if (/content-transfer-encoding: base64/i.test(headers)) return Buffer.from(part, "base64");
		if (!/content-transfer-encoding: quoted-printable/i.test(headers)) return Buffer.from(part);
		return Buffer.from(
			part.replace(/=\r?\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
			"latin1",
		);
	};
	if (boundary === undefined) return { id, text: decode(body, head).toString().trim() };
	const parts = body.split(`--${boundary}`).map((part) => part.replace(/^\r?\n/, ""));
	const pieces = parts.map((part) => {
		const [headers = "", ...inner] = part.replaceAll("\r\n", "\n").split("\n\n");
		return { headers, bytes: decode(inner.join("\n\n").trim(), headers) };
	});
	const file = pieces.find(({ headers }) => /content-disposition: attachment/i.test(headers));
	const text = pieces.find(({ headers }) => /^content-type: text\/plain/im.test(headers) && !/disposition: attachment/i.test(headers));
	return {
		id,
		text: text?.bytes.toString().trim() ?? "",
		...(file ? { file: { name: /filename="?([^";\n]+)/.exec(file.headers)?.[1] ?? "", bytes: file.bytes } } : {}),
	};
}

let counter = 0;
/** A mail of a person, put into the bot's mailbox as the server does it. */
function mailOf(from: string, text: string, file?: { readonly name: string; readonly bytes: Uint8Array }, headers: readonly string[] = []): string {
	const head = [
		`From: Jo <${from}>`,
		"To: holdfast@localhost",
		`Subject: =?utf-8?B?${Buffer.from("Fräge").toString("base64")}?=`,
		`Message-ID: <m${++counter}@localhost>`,
		"MIME-Version: 1.0",
		...headers,
	];
	const plain = ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "", Buffer.from(text).toString("base64")];
	if (!file) return [...head, ...plain, ""].join("\n");
	const attached = [
		"Content-Type: text/plain",
		`Content-Disposition: attachment; filename="${file.name}"`,
		"Content-Transfer-Encoding: base64",
		"",
		Buffer.from(file.bytes).toString("base64"),
	];
	return [...head, 'Content-Type: multipart/mixed; boundary="bb"', "", "--bb", ...plain, "--bb", ...attached, "--bb--", ""].join("\n");
}

async function stageOf(): Promise<Stage> {
	const server = await startMail();
	const [imap, smtp] = [new CuttableLine(server.imap), new CuttableLine(server.smtp)];
	const [imapPort, smtpPort] = [await imap.listen(), await smtp.listen()];
	let people = 0;
	return {
		open: (how) => open(imapPort, smtpPort, how?.wrongKey ? "wrong" : "secret"),
		chat: async (): Promise<StageChat> => {
			const name = `jo${people++}`;
			server.account(name, "secret");
			return {
				ref: { id: `${name}@localhost`, kind: "direct" },
				person: `unproved:${name}@localhost`,
				say: async (text, file) => server.deliver("holdfast", mailOf(`${name}@localhost`, text, file)),
				shown: async () => server.mailOf(name).map(shownOf),
			};
		},
		deadChat: async () => ({ id: "nobody@localhost", kind: "direct" }),
		cut: (when, marker) => smtp.cutAt(when, when === "before" ? marker : "\r\n.\r\n"), // with its last line the server has it
		drop: () => imap.drop(),
		revoke: async (revoked) => {
			server.account("holdfast", revoked ? "changed" : "secret");
			while ((await server.accepts("holdfast", "secret")) === revoked) await new Promise((resolve) => setTimeout(resolve, 50));
		},
		close: async () => {
			await imap.close();
			await smtp.close();
			await server.close();
		},
	};
}

platformContract("email", stageOf, {
	skip: missing(MAIL),
	rendered: /^\*bold\* and `code`$/,
	without: {
		"a line that was cut for long: what was missed is read before what is live": "the mailbox keeps what was not read",
		"a flood wait is an error with its end, and nothing was shown": "the wait is not told by the server: below",
		"a second program with the token is told of": "a mailbox takes any number of programs",
	},
});

describe.skipIf(missing(MAIL))("email", () => {
	const never = new AbortController().signal;

	async function running(server: MailServer, more: object = {}): Promise<{ platform: Platform; messages: Incoming[] }> {
		const platform = await open(server.imap, server.smtp, "secret", more);
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
		return { platform, messages };
	}

	it("answers in the thread, ignores programs and itself, and knows who is proved", async () => {
		const server = await startMail();
		atEnd(server.close);
		server.account("jo", "secret");
		const { platform, messages } = await running(server, { trusted: "mx.test" });
		const proof = "Authentication-Results: mx.test; dmarc=pass header.from=jo.example; spf=pass smtp.mailfrom=jo.example";
		server.deliver("holdfast", mailOf("robot@localhost", "out of office", undefined, ["Auto-Submitted: auto-replied"]));
		server.deliver("holdfast", mailOf("list@localhost", "news", undefined, ["List-Id: <news.localhost>"]));
		server.deliver(
			"holdfast",
			mailOf("jo@jo.example", "yes, do it\n\nOn Monday, Holdfast wrote:\n> shall I?\n", undefined, [
				proof,
				"References: <root@localhost> <last@localhost>",
				"In-Reply-To: <last@localhost>",
			]),
		);
		server.deliver("holdfast", mailOf("jo@localhost", "hello"));
		await until("two", () => messages.length === 2);
		expect(messages[0]).toMatchObject({
			text: "yes, do it",
			person: { id: "jo@jo.example", name: "Jo" },
			chat: { thread: "root@localhost", name: "Fräge" },
			replyTo: "last@localhost",
		});
		expect(messages[1]).toMatchObject({ text: "hello", person: { id: "unproved:jo@localhost" } });
		const { chat, id } = messages[1] as Incoming;
		const out = { id: "dlv_1", chat, replyTo: id, rings: true, text: "hi" };
		const sent = await platform.send(out, never);
		await until("jo has it", () => server.mailOf("jo").length === 1);
		const [mail = ""] = server.mailOf("jo");
		expect(mail).toContain(`In-Reply-To: <${id}>`);
		expect(mail).toContain(`References: <${id}>`);
		expect(mail).toMatch(/^Subject: =\?UTF-8\?Q\?Re=3A_Fr=C3=A4ge\?=$|^Subject: Re: =\?UTF-8\?Q\?Fr=C3=A4ge\?=$/m);
		expect(mail).toContain("Auto-Submitted: auto-replied");
		expect(await platform.find?.(out, never)).toEqual(sent);
		await until("its own copy is out of the inbox", () => !server.mailOf("holdfast").some((one) => one.includes("dlv_1")));
		expect(await platform.find?.(out, never)).toEqual(sent);
		expect(messages.length).toBe(2);
	});

	it("takes no forged proof, and cuts off what a mail quotes", () => {
		const proved = (text: string): boolean => isProved("jo@jo.example", headersOf(Buffer.from(text)), "mx.test");
		expect(proved("Authentication-Results: mx.test; dkim=pass header.d=jo.example")).toBe(true);
		expect(proved("Authentication-Results: mx.test; dkim=pass header.d=other.example")).toBe(false);
		expect(proved("Authentication-Results: mx.evil; dmarc=pass header.from=jo.example")).toBe(false);
		expect(
			proved("Authentication-Results: mx.test; dmarc=fail header.from=jo.example\r\nAuthentication-Results: mx.test; dmarc=pass header.from=jo.example"),
		).toBe(false);
		expect(proved("Authentication-Results: mx.test; dkim=pass header.d=example")).toBe(false);
		expect(withoutQuote("one\n> quoted in the middle\ntwo\n\nAm Montag schrieb Holdfast:\n> a\n> b\n")).toBe("one\n> quoted in the middle\ntwo");
		expect(withoutQuote("one\n-- \nJo")).toBe("one");
	});
});
