/** Messages between the page's browser code and this server: types alone, and numbers that both keep to. It imports nothing, since agent/web uses it too. */

export type BusyMode = "steer" | "queue" | "interrupt";
export type ResultHow = "ran" | "recovered" | "skipped" | "refused" | "unknown";

export interface Said {
	readonly platform: string;
	readonly person: string;
	readonly name?: string;
}

export interface Tokens {
	readonly input: number;
	readonly output: number;
	readonly cost?: number;
}

export interface Step {
	readonly text: string;
	readonly state: "pending" | "doing" | "done" | "dropped";
}

export interface Question {
	readonly id: string;
	readonly text: string;
	readonly choices: readonly string[];
}

/** Entries that a browser gets at first, and with each step back. */
export const PAGE_ENTRIES = 100;
/** Characters of a text that a browser gets with an entry; the rest when it is asked for. */
export const TEXT_CHARS = 60_000;
export const RESULT_CHARS = 1_500;
/** Bytes of a message: what is longer belongs into a file. */
export const MESSAGE_BYTES = 1024 * 1024;

export interface ConversationItem {
	readonly id: string;
	readonly title: string | null;
	/** The beginning of the first message. */
	readonly first: string;
	readonly started_at: string;
	readonly updated_at: string;
	readonly messages: number;
	readonly model: string;
	readonly place: string;
	readonly task: string;
	readonly ended: string | null;
	/** Why it cannot be read. */
	readonly broken: string | null;
	readonly state: ConversationState;
}

/** `works`: a turn is under way, in this server or in `by`. `asks`: the model waits for an answer of the person. `cut`: a turn was cut short, and no program has it. */
export type ConversationState = { readonly is: "idle" } | { readonly is: "works" | "asks"; readonly by: string | null } | { readonly is: "cut" };

/** A text that may have been cut for the way: `chars` is its whole length then. */
export interface CutText {
	readonly text: string;
	readonly chars?: number;
}

export interface ShownCall {
	readonly id: string;
	readonly name: string;
	readonly args: CutText;
}

/** An entry of the log as the page shows it. `n` is its number; those that show nothing (`failure`) are left out, so numbers may have gaps. */
export type ShownEntry = { readonly n: number; readonly at: string } & (
	| { readonly t: "begun"; readonly place: string; readonly model: string; readonly from?: string }
	| {
			readonly t: "user";
			readonly id: string;
			readonly text: CutText;
			readonly by: Said;
			readonly files: readonly { readonly name: string; readonly bytes: number }[];
	  }
	| { readonly t: "notice" | "note"; readonly text: CutText }
	| {
			readonly t: "assistant";
			readonly text: CutText;
			readonly thought: CutText;
			readonly calls: readonly ShownCall[];
			readonly usage?: Tokens;
			readonly model: string;
	  }
	| { readonly t: "partial"; readonly text: CutText; readonly why: "interrupted" | "cut" | "length" }
	| { readonly t: "result"; readonly call: string; readonly text: CutText; readonly failed: boolean; readonly process?: string; readonly how: ResultHow }
	| { readonly t: "summary"; readonly text: CutText; readonly before: number; readonly after: number }
	| { readonly t: "shortened"; readonly before: number; readonly after: number }
	| { readonly t: "undone"; readonly from: number }
	| { readonly t: "set"; readonly model?: string; readonly place?: string; readonly title?: string; readonly mode?: BusyMode }
	| { readonly t: "stopped"; readonly why: string; readonly text: string }
	| { readonly t: "ended"; readonly why: string }
);

export interface WaitingMessage {
	readonly id: string;
	readonly kind: "user" | "notice";
	readonly text: CutText;
	readonly mode: BusyMode | null;
}

/** The work under way, besides the lines of the log. The text of an answer that is arriving comes in pieces of its own. */
export interface LiveState {
	/** A turn is under way in this server. */
	readonly busy: boolean;
	/** The program that writes, if it is another one: "chat (pid 4711)". */
	readonly holder: string | null;
	readonly waiting: readonly WaitingMessage[];
	readonly questions: readonly Question[];
	/** The model was asked, and nothing has come yet. */
	readonly asking: boolean;
	readonly compacting: boolean;
	/** By the id of a call that runs: the last thing that it told. */
	readonly progress: Readonly<Record<string, string>>;
	readonly retry: { readonly why: string; readonly until: string; readonly attempt: number } | null;
	/** The warnings of this turn to the person. */
	readonly warnings: readonly string[];
	/** How the last turn in this server ended, if not with an answer. */
	readonly end: string | null;
	readonly todo: readonly Step[];
}

/** By the name of a server-sent event: its data. */
export interface StreamEvents {
	readonly list: { readonly conversations: readonly ConversationItem[]; readonly more: boolean };
	/** In order, each number once. `first`: there are earlier ones. */
	readonly entries: { readonly entries: readonly ShownEntry[]; readonly next: number; readonly earlier: boolean };
	readonly live: LiveState;
	/** A piece of an answer that is arriving. `at` is where it begins in the whole; 0 voids what was there. */
	readonly text: { readonly at: number; readonly text: string };
	readonly thought: { readonly at: number; readonly text: string };
	/** The conversation cannot be shown, or not any more. */
	readonly broken: { readonly code: string; readonly message: string };
}

export interface PageSettings {
	/** Why no conversation can begin. */
	readonly problem: string | null;
	readonly endpoint: string | null;
	readonly model: string | null;
	readonly models: readonly string[];
	readonly place: string;
	readonly cwd: string;
	readonly busy: BusyMode;
}

export interface NewConversation {
	readonly text: string;
	readonly model?: string;
	readonly place?: string;
	readonly cwd?: string;
}

export interface SentMessage {
	readonly id: string;
	readonly did: "started" | "steered" | "queued" | "interrupted" | "known";
}
