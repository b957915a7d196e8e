/** The mailbox: new mail by IDLE, in order, marked as read when it was stored; and whether it has a mail of ours. */
import type { FetchMessageObject, ImapFlow, ImapFlowOptions, MessageStructureObject } from "imapflow";
import { fromImap } from "./email-errors.js";
import { fileNameOf, fromHtml, HEADERS, headersOf, isAutomatic, type MailParts, mailIncoming, senderOf, structureOf } from "./email-incoming.js";
import { pause } from "./pace.js";
import { type IncomingFile, PlatformError, type PlatformEvents } from "./platform.js";

const LONGEST_TEXT = 1_000_000;

export class Mailbox {
	readonly #connect: () => ImapFlow;
	readonly #address: string;
	readonly #trusted: string | undefined;

	constructor(lib: typeof import("imapflow"), options: ImapFlowOptions, address: string, trusted: string | undefined) {
		this.#connect = () => new lib.ImapFlow({ ...options, logger: false });
		this.#address = address.toLowerCase();
		this.#trusted = trusted;
	}

	/** Opens a connection for one thing, and closes it. */
	async once<T>(use: (client: ImapFlow) => Promise<T>): Promise<T> {
		const client = this.#connect();
		client.on("error", () => undefined); // the failed call tells it
		try {
			await client.connect();
			return await use(client);
		} catch (error) {
			throw fromImap(error);
		} finally {
			client.close();
		}
	}

	/** Hears new mail until the connection ends. `up` is called when it stands. */
	async hear(on: PlatformEvents, up: () => void, signal: AbortSignal): Promise<void> {
		await this.once(async (client) => {
			const closed = new Promise<void>((resolve) => client.on("close", () => resolve()));
			const quit = (): void => client.close();
			signal.addEventListener("abort", quit);
			try {
				await client.mailboxOpen("INBOX");
				const sent = await sentOf(client);
				let wake: () => void = () => undefined;
				let more = true;
				client.on("exists", () => {
					more = true;
					wake();
				});
				up();
				while (client.usable && !signal.aborted) {
					more = false;
					await this.#unread(client, sent, on);
					if (more) continue;
					const news = new Promise<void>((resolve) => {
						wake = resolve;
					});
					await Promise.race([news, closed, client.idle().then(() => news)]);
				}
			} finally {
				signal.removeEventListener("abort", quit);
			}
			if (!signal.aborted) throw new PlatformError("not-sent", "the mail server closed the connection");
		});
	}

	/** Each unread mail, oldest first. One that could not be stored stays unread, and those behind it wait. */
	async #unread(client: ImapFlow, sent: string | undefined, on: PlatformEvents): Promise<void> {
		const uids = (await client.search({ seen: false }, { uid: true })) || [];
		for (const uid of uids.sort((a, b) => a - b)) {
			const mail = await client.fetchOne(String(uid), { uid: true, envelope: true, bodyStructure: true, internalDate: true, headers: HEADERS }, { uid: true });
			if (!mail) continue; // deleted meanwhile
			if (senderOf(mail) === this.#address) {
				await (sent ? client.messageMove(String(uid), sent, { uid: true }) : client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true }));
				continue;
			}
			const headers = headersOf(mail.headers);
			const message = isAutomatic(mail, headers) ? undefined : mailIncoming(mail, headers, await this.#parts(client, mail), this.#trusted);
			if (message) await stored(() => on.message(message));
			await client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true });
		}
	}

	async #parts(client: ImapFlow, mail: FetchMessageObject): Promise<MailParts> {
		const { text, files } = structureOf(mail.bodyStructure);
		const words = text ? (await bytesOf(client, mail.uid, text, LONGEST_TEXT)).toString("utf8") : "";
		return { text: text?.type === "text/html" ? fromHtml(words) : words, files: files.map((node) => this.#file(mail.uid, node)) };
	}

	/** Fetched when it is wanted, on a connection of its own: by uid, which stays. */
	#file(uid: number, node: MessageStructureObject): IncomingFile {
		const read = (limit: number): Promise<Uint8Array> =>
			this.once(async (client) => {
				await client.mailboxOpen("INBOX", { readOnly: true });
				return bytesOf(client, uid, node, limit);
			});
		return { name: fileNameOf(node) ?? "file", ...(node.type ? { type: node.type } : {}), read: (limit) => read(limit) };
	}

	/** Looks for a mail of ours, again and again until the time that its delivery may take is over. */
	async has(messageId: string, settleMs: number, signal: AbortSignal): Promise<boolean> {
		return this.once(async (client) => {
			const sent = await sentOf(client);
			for (const deadline = Date.now() + settleMs; ; ) {
				for (const path of ["INBOX", ...(sent ? [sent] : [])]) {
					await client.mailboxOpen(path, { readOnly: true });
					const found = (await client.search({ header: { "message-id": messageId } }, { uid: true })) || [];
					if (found.length > 0) return true;
				}
				if (Date.now() >= deadline || signal.aborted) return false;
				await pause(Math.min(1000, settleMs / 5), signal);
			}
		});
	}

	/** The subject of a thread, from its first mail that is here. */
	async subjectOf(root: string): Promise<string | undefined> {
		return this.once(async (client) => {
			await client.mailboxOpen("INBOX", { readOnly: true });
			const [uid] = (await client.search({ header: { "message-id": root } }, { uid: true })) || [];
			const mail = uid === undefined ? undefined : await client.fetchOne(String(uid), { envelope: true }, { uid: true });
			return mail ? mail.envelope?.subject : undefined;
		});
	}
}

async function sentOf(client: ImapFlow): Promise<string | undefined> {
	return (await client.list()).find(({ specialUse }) => specialUse === "\\Sent")?.path;
}

async function bytesOf(client: ImapFlow, uid: number, node: MessageStructureObject, limit: number): Promise<Buffer> {
	const { content } = await client.download(String(uid), node.part ?? "1", { uid: true, maxBytes: limit + 1 });
	const chunks: Buffer[] = [];
	for await (const chunk of content) chunks.push(chunk as Buffer);
	const bytes = Buffer.concat(chunks);
	if (bytes.length > limit) throw new PlatformError("refused", `the file is larger than ${limit} bytes`);
	return bytes;
}

/** The mail stays unread; the connection is made anew after a pause. */
async function stored(store: () => Promise<void>): Promise<void> {
	try {
		await store();
	} catch (error) {
		throw new PlatformError("not-sent", "the gateway could not store the mail", { cause: error });
	}
}
