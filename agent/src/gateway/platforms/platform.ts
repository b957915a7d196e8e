/**
 * The seam to a chat platform. A platform moves messages and says truthfully what became of them; it decides nothing: who may talk, which conversation a
 * message belongs to, what is sent again and when are the gateway's. A platform keeps no state on disk.
 */

/**
 * The platform's knowledge of a message whose sending was cut short:
 * `exact` takes the same id once, `lookup` can be asked whether it has it, `fill` cannot be asked but edits can be repeated, `unsure` can tell nothing.
 */
export type Certainty = "exact" | "lookup" | "fill" | "unsure";

export interface PlatformTraits {
	/** The longest text of one message, in the unit that the platform counts. */
	readonly limit: { readonly size: number; readonly unit: "characters" | "bytes" };
	readonly certainty: Certainty;
	readonly edits: boolean;
	readonly buttons: boolean;
	readonly files: boolean;
	readonly typing: boolean;
	/** A message may be delivered without a sound. */
	readonly silent: boolean;
}

export interface ChatRef {
	readonly id: string;
	readonly kind: "direct" | "group";
	/** A thread of the chat, where the platform has them. */
	readonly thread?: string;
	/** For people only: data of strangers, never part of a key. */
	readonly name?: string;
}

export interface PersonRef {
	readonly id: string;
	readonly name?: string;
}

export interface IncomingFile {
	readonly name: string;
	readonly type?: string;
	readonly size?: number;
	/** Fetches the bytes; rejects above `limit`. */
	read(limit: number, signal: AbortSignal): Promise<Uint8Array>;
}

export interface Incoming {
	/** The platform's own id of the message, the same one at each redelivery. */
	readonly id: string;
	readonly chat: ChatRef;
	readonly person: PersonRef;
	readonly text: string;
	/** When it was sent, in ms. */
	readonly at: number;
	/** The platform's id of the message that it answers. */
	readonly replyTo?: string;
	/** In a group: whether it speaks to the bot (a mention, a reply to it, a command). In a direct chat: true. */
	readonly addressed: boolean;
	readonly files: readonly IncomingFile[];
}

/** A button was pressed. */
export interface Tapped {
	readonly id: string;
	readonly chat: ChatRef;
	readonly person: PersonRef;
	/** The message that the button is on. */
	readonly message: string;
	readonly data: string;
	/** Shows the person what came of it, where the platform can: a toast, or nothing. Never rejects. */
	show(text: string): Promise<void>;
}

export interface Button {
	readonly label: string;
	/** At most 64 bytes, which is what Telegram takes. */
	readonly data: string;
}

export interface Outgoing {
	/** Ours, `[A-Za-z0-9_-]`, the same one at each try. */
	readonly id: string;
	readonly chat: ChatRef;
	/** Markdown, within the platform's limit as `render` of the platform counts it. */
	readonly text: string;
	readonly buttons?: readonly Button[];
	readonly rings: boolean;
	readonly replyTo?: string;
	readonly file?: { readonly name: string; readonly type?: string; readonly bytes: Uint8Array };
}

export interface PlatformEvents {
	/** Resolves when the message is on disk, or is not wanted: then it may be acknowledged. Rejects if it could not be stored: then it must not be. */
	message(message: Incoming): Promise<void>;
	/** As `message`: resolves when the press was taken. */
	tapped(tap: Tapped): Promise<void>;
	/** The connection came or went, with the reason in words. The platform reconnects by itself. */
	connection(state: { readonly up: boolean; readonly why?: string }): void;
}

/** The last message of a chat that the gateway has on disk. */
export interface LastSeen {
	readonly chat: ChatRef;
	/** `Incoming.id`. */
	readonly message: string;
	readonly at: number;
}

/** The platform's own account, as it tells it when its token is tried. */
export interface PlatformAccount {
	readonly id: string;
	readonly name: string;
	/** How a person writes to it: `https://t.me/…`, `@bot`, an address. */
	readonly address?: string;
}

export interface Platform {
	readonly name: string;
	readonly traits: PlatformTraits;
	/** Tries the token; rejects with `PlatformError` of kind `key` if it is wrong. */
	account(signal: AbortSignal): Promise<PlatformAccount>;
	/**
	 * Connects and stays connected until the signal; rejects only with an error of kind `key` or `taken`, which no retry can mend.
	 * `seen` is what the gateway stored last in each chat: a platform with a history that does not redeliver goes on from it.
	 */
	run(on: PlatformEvents, signal: AbortSignal, seen?: readonly LastSeen[]): Promise<void>;
	/** The message's id on the platform. Rejects with `PlatformError`. */
	send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }>;
	/** Replaces the text and buttons of a message of ours; the same edit twice is no error. */
	edit?(message: string, out: Outgoing, signal: AbortSignal): Promise<void>;
	/** With certainty `lookup`: whether the platform has a message of ours. Resolves with undefined only if it has looked, and it is not there. */
	find?(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string } | undefined>;
	typing?(chat: ChatRef, signal: AbortSignal): Promise<void>;
	/** How long the text will be on the platform, in the unit of its limit. */
	measure(markdown: string): number;
}

/**
 * `not-sent`: certainly not there, may be tried again. `unsure`: the line was cut, it may be there. `later`: the platform wants a pause until `until`.
 * `dead`: the chat is gone or has blocked us. `refused`: this message never will be taken. `key`: the token is wrong or was revoked. `taken`: another program
 * uses the token.
 */
export type PlatformErrorKind = "not-sent" | "unsure" | "later" | "dead" | "refused" | "key" | "taken";

export class PlatformError extends Error {
	readonly kind: PlatformErrorKind;
	/** With `later`: when to try again, in ms. */
	readonly until: number | undefined;

	constructor(kind: PlatformErrorKind, words: string, options: { readonly until?: number; readonly cause?: unknown } = {}) {
		super(words, options.cause === undefined ? {} : { cause: options.cause });
		this.name = "PlatformError";
		this.kind = kind;
		this.until = options.until;
	}
}
