/**
 * E-mail: IMAP for what comes in, SMTP for what goes out. A mail is marked as read when the gateway has stored it. What we send goes to our own mailbox too, with
 * a Message-ID of ours: so the mailbox tells whether the server took a mail whose sending was cut.
 */
import { createHash } from "node:crypto";
import type { Transporter } from "nodemailer";
import { z } from "zod";
import { fromSmtp } from "./email-errors.js";
import { Mailbox } from "./email-inbox.js";
import { wordsOf } from "./failures.js";
import { styledText } from "./format/plain.js";
import { loadPackage } from "./optional.js";
import { Backoff, type Pace, USUAL_PACE } from "./pace.js";
import { type Outgoing, type Platform, type PlatformAccount, PlatformError, type PlatformEvents, type PlatformTraits } from "./platform.js";

const server = z
	.strictObject({ host: z.string().min(1), port: z.int().min(1).max(65_535).optional(), security: z.enum(["tls", "starttls", "none"]).default("tls") })
	.refine(({ host, security }) => security !== "none" || /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host), "without encryption only on this machine");

export const emailSettings = z.strictObject({
	/** The address of the bot: a mailbox of its own. */
	address: z.string().regex(/^[^@\s<>,;]+@(?:localhost|[^@\s<>,;]+\.[^@\s<>,;.]+)$/, "an address: name@server"),
	imap: server,
	smtp: server,
	/** The name to log in with; the address, if not given. */
	user: z.string().min(1).optional(),
	/** The name in front of `Authentication-Results` that your mail server writes: then senders that it has proved are people by their address. */
	trusted: z.string().min(1).optional(),
	/** Sends each mail to the bot's own mailbox too. Without it nothing can be looked up. */
	copy: z.boolean().default(true),
});
export type EmailSettings = z.infer<typeof emailSettings>;

const TRAITS: PlatformTraits = {
	limit: { size: 50_000, unit: "characters" },
	certainty: "lookup",
	edits: false,
	buttons: false,
	files: true,
	typing: false,
	silent: false,
};
/** Longest subject that is made of the first line. */
const SUBJECT = 70;
/** A copy may take this many first waits to arrive: 30 seconds. */
const SETTLE = 30;

export async function openEmail(settings: EmailSettings, secrets: Readonly<Record<string, string>>, pace: Pace = USUAL_PACE): Promise<Platform> {
	const [nodemailer, imapflow] = await loadPackage("E-mail", ["nodemailer", "imapflow"], () => Promise.all([import("nodemailer"), import("imapflow")]));
	const { imap, smtp, address, user = address } = settings;
	const auth = { user, pass: secrets.password ?? "" };
	const box = {
		host: imap.host,
		port: imap.port ?? (imap.security === "tls" ? 993 : 143),
		secure: imap.security === "tls",
		doSTARTTLS: imap.security === "starttls",
	};
	const security = { secure: smtp.security === "tls", requireTLS: smtp.security === "starttls", ignoreTLS: smtp.security === "none" };
	const timeouts = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000 };
	const port = smtp.port ?? (smtp.security === "tls" ? 465 : smtp.security === "starttls" ? 587 : 25);
	const transport = nodemailer.createTransport({ host: smtp.host, port, ...security, ...timeouts, auth: { user, pass: secrets.smtpPassword || auth.pass } });
	const options = { ...box, auth, disableAutoIdle: true, tls: box.secure || box.doSTARTTLS ? {} : { rejectUnauthorized: false } };
	return new Email(new Mailbox(imapflow, options, address, settings.trusted), transport, settings, pace);
}

class Email implements Platform {
	readonly name = "email";
	readonly traits = TRAITS;
	readonly #box: Mailbox;
	readonly #smtp: Transporter;
	readonly #settings: EmailSettings;
	readonly #pace: Pace;
	/** Subjects of threads, so that they are looked up once. */
	readonly #subjects = new Map<string, string>();

	constructor(box: Mailbox, smtp: Transporter, settings: EmailSettings, pace: Pace) {
		this.#box = box;
		this.#smtp = smtp;
		this.#settings = settings;
		this.#pace = pace;
	}

	async account(_signal: AbortSignal): Promise<PlatformAccount> {
		await this.#box.once(async () => undefined);
		try {
			await this.#smtp.verify();
		} catch (error) {
			throw fromSmtp(error);
		}
		return { id: this.#settings.address, name: this.#settings.address, address: `mailto:${this.#settings.address}` };
	}

	async run(on: PlatformEvents, signal: AbortSignal): Promise<void> {
		const backoff = new Backoff(this.#pace);
		while (!signal.aborted) {
			try {
				const up = (): void => on.connection({ up: true });
				const heard: PlatformEvents = {
					...on,
					message: async (message) => {
						await on.message(message);
						backoff.reset();
						if (message.chat.thread && message.chat.name) this.#remember(message.chat.thread, message.chat.name);
					},
				};
				await this.#box.hear(heard, up, signal);
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof PlatformError && error.kind === "key") throw error;
				on.connection({ up: false, why: wordsOf(error) });
			}
			await backoff.wait(signal);
		}
	}

	async send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		if (!/^[^\s<>,;@]+@[^\s<>,;@]+$/.test(out.chat.id)) throw new PlatformError("refused", `"${out.chat.id}" is no e-mail address`);
		const { address, copy } = this.#settings;
		const [id, text, thread] = [this.#idOf(out), styledText(out.text), out.chat.thread];
		const references = [...new Set([...(thread ? [thread] : []), ...(out.replyTo ? [out.replyTo] : [])])].map((one) => `<${one}>`);
		const subject = thread ? await this.#subject(thread) : (text.split("\n")[0] ?? "").slice(0, SUBJECT);
		const mail = {
			from: address,
			to: out.chat.id,
			subject,
			text,
			messageId: `<${id}>`,
			...(references.length > 0 ? { references: references.join(" "), inReplyTo: references.at(-1) ?? "" } : {}),
			headers: { "Auto-Submitted": "auto-replied" },
			envelope: { from: address, to: [out.chat.id, ...(copy ? [address] : [])] },
			...(out.file
				? { attachments: [{ filename: out.file.name, content: Buffer.from(out.file.bytes), ...(out.file.type ? { contentType: out.file.type } : {}) }] }
				: {}),
		};
		if (signal.aborted) throw new PlatformError("not-sent", "the sending was ended");
		try {
			const { rejected } = (await this.#smtp.sendMail(mail)) as { rejected?: unknown[] };
			if (rejected?.includes(out.chat.id)) throw new PlatformError("dead", `the mail server does not take mail for ${out.chat.id}`);
		} catch (error) {
			throw fromSmtp(error);
		}
		return { id };
	}

	async find(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string } | undefined> {
		if (!this.#settings.copy) throw new PlatformError("unsure", 'without "copy" sent mail cannot be looked up');
		const id = this.#idOf(out);
		return (await this.#box.has(`<${id}>`, SETTLE * this.#pace.firstMs, signal)) ? { id } : undefined;
	}

	measure(markdown: string): number {
		return styledText(markdown).length;
	}

	/** The same at each try; the hash keeps two agents with one domain apart. */
	#idOf({ id, chat }: Outgoing): string {
		const { address } = this.#settings;
		const salt = createHash("sha256")
			.update(`${address} ${chat.id} ${chat.thread ?? ""}`)
			.digest("hex")
			.slice(0, 12);
		return `${id}.${salt}@${address.split("@")[1]}`;
	}

	async #subject(thread: string): Promise<string> {
		const known = this.#subjects.get(thread) ?? (await this.#box.subjectOf(`<${thread}>`).catch(() => undefined));
		if (known === undefined) return "Re:";
		this.#remember(thread, known);
		return /^re:/i.test(known) ? known : `Re: ${known}`;
	}

	#remember(thread: string, subject: string): void {
		this.#subjects.set(thread, subject);
		if (this.#subjects.size > 500) for (const old of this.#subjects.keys()) if (this.#subjects.delete(old)) break;
	}
}
