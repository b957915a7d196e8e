/** The library's views of approvals, notices, calls and links: the members of these interfaces, and no others. */
import * as z from "zod";
import { type Approval, mustBePerson, type Reply, type Revoked } from "../approvals/index.js";
import { aSignal, HoldfastError, parseOptions } from "../base/index.js";
import { handBack, handBackLost, type Notice, noticeSchema } from "../notices/index.js";
import { Keyboard, keyboardOf, type Viewer, Viewers } from "../process/index.js";
import { type AgentRuntime, type FoundCall, type LinkOptions, type MadeLink, makeLink } from "../tools/index.js";
import { taskName } from "./options.js";

/** Questions to a person about commands. docs/approvals.md */
export interface ApprovalsView {
	/** Returns what waits for an answer, oldest first; with `all` also what was settled in the last hour. */
	list(options?: { task?: string; all?: boolean }): Approval[];
	/** Returns one, by its id or by 4 or more of its digits. */
	get(id: string): Approval;
	/** Answers one. The first answer counts: throws ANSWERED to all others, and FORBIDDEN inside a process of an agent. */
	answer(id: string, reply: Reply): Promise<Approval>;
	/** Takes back what was allowed for a task, withdraws its open questions, and says what that was. Rules of `always` stay. */
	revoke(task: string, options?: { by?: string }): Revoked;
	/** Declares that a person is shown pending questions, of one task or of all, so that its calls wait for an answer. Returns a function that ends that. */
	attend(options?: { task?: string }): () => void;
	/** Yields each pending question once, then each new one. A listener counts as a person who answers, for that task or for all. */
	stream(options?: { task?: string; signal?: AbortSignal }): AsyncGenerator<Approval, void>;
}

const aTask = z.string().min(1).optional();
const listSchema = z.strictObject({ task: aTask, all: z.boolean().optional() });
const streamSchema = z.strictObject({ task: aTask, signal: aSignal });
const replySchema = z.strictObject({ answer: z.string(), message: z.string().optional(), by: z.string().optional() });
const attendSchema = z.strictObject({ task: aTask });
const revokeSchema = z.strictObject({ by: z.string().optional() });

export const approvalsView = ({ approvals }: AgentRuntime): ApprovalsView => ({
	list: (options = {}) => approvals.list(parseOptions("approvals.list", listSchema, options) as { task?: string }),
	get: (id) => approvals.get(id),
	answer: async (id, reply) => approvals.answer(id, parseOptions("approvals.answer", replySchema, reply) as Reply),
	revoke: (task, options = {}) => approvals.revoke(task, parseOptions("approvals.revoke", revokeSchema, options) as { by?: string }),
	attend: (options = {}) => approvals.attend(parseOptions("approvals.attend", attendSchema, options) as { task?: string }),
	stream: (options = {}) => approvals.stream(parseOptions("approvals.stream", streamSchema, options) as { task?: string }),
});

/** Notices from background processes to their task. docs/tools.md */
export interface NoticesView {
	/** Yields the notices of a task, or of all tasks, as they come. `leave`: only shows them, and they stay for the next reader. */
	stream(task: string, options?: { signal?: AbortSignal; leave?: boolean }): AsyncGenerator<Notice, void>;
	stream(options?: { task?: string; signal?: AbortSignal; leave?: boolean }): AsyncGenerator<Notice, void>;
	/** Takes and returns what is due now. */
	take(task: string): Promise<Notice[]>;
	/** Returns the notices that are not delivered yet, and leaves them in the queue. */
	waiting(task: string): Notice[];
	/** Gives back notices that could not be delivered. */
	putBack(notices: readonly Notice[]): void;
}

export const noticesView = ({ notices }: AgentRuntime): NoticesView => ({
	stream: (...args: unknown[]) => notices.stream(...(args as [])),
	take: async (task) => notices.take(taskName("notices.take", task)),
	waiting: (task) => notices.waiting(taskName("notices.waiting", task)),
	putBack: (given) => notices.putBack(parseOptions("notices.putBack", z.array(noticeSchema), given)),
});

/** Calls that were given an id: what became of them, after any crash. */
export interface Calls {
	/** Returns what became of a call of a task. */
	find(task: string, id: string): Promise<FoundCall>;
	/** Forgets the result that was kept of a call. Throws NOT_FOUND if there is no such call, CONFLICT while it is under way. */
	settle(task: string, id: string): Promise<void>;
	/** The same for an id that only one task has used. */
	settle(id: string): Promise<void>;
}

/** Links to one terminal in the page. docs/http.md */
export interface LinksView {
	/**
	 * Makes a link. Read-only by default, for a day; with `keyboard`, one browser may take the keyboard, once, for ten minutes. `origin`: where the
	 * page can be reached; default: the `holdfast serve` that runs on this home, and `url` is null if there is none.
	 */
	create(options: LinkOptions): MadeLink;
	/** Returns those that work now. */
	list(): Viewer[];
	/** Withdraws one by its id. */
	revoke(id: string): void;
}

export const linksView = (agent: AgentRuntime): LinksView => ({
	create: (options) => makeLink(agent, options),
	list: () => new Viewers(agent.home).list(),
	revoke: (id) => new Viewers(agent.home).remove(id),
});

/** The keyboard of a process: while a person has it, an agent may look at the process, and does nothing to it. docs/library.md */
export interface KeyboardsView {
	/** Returns the holder. */
	holder(session_id: string): KeyboardHolder | undefined;
	/** Takes it for a person: for 20 seconds, and from each `renew` on. Returns undefined while another person has it. */
	take(session_id: string, options: { readonly who: string }): TakenKeyboard | undefined;
}

export interface KeyboardHolder {
	readonly who: string;
	readonly since: Date;
}

export interface TakenKeyboard {
	/** Returns false once it has lapsed, or another person has taken it over. */
	renew(): boolean;
	/** Gives it back, and the task is told so. */
	release(): void;
}

const takeSchema = z.strictObject({ who: z.string().min(1) });

export const keyboardsView = (agent: AgentRuntime): KeyboardsView => ({
	holder(session_id) {
		const process = agent.get(session_id);
		handBackLost(agent.home, process);
		const holder = keyboardOf(process);
		return holder && { who: holder.who, since: new Date(holder.since) };
	},
	take(session_id, options) {
		const process = agent.get(session_id);
		const keyboard = Keyboard.take(process, parseOptions("keyboards.take", takeSchema, options));
		return keyboard && { renew: () => keyboard.renew(), release: () => handBack(agent.home, process, keyboard) };
	},
});

/** Passwords for the sudo of commands on this machine. docs/secrets.md */
export interface SudoView {
	/**
	 * Asks a person when the sudo of a command wants a password: `ask` resolves with it, or with null for none; `signal` aborts after 45 seconds. What was
	 * typed is kept for that task, in memory only. The last one to attend is asked. Returns what ends that. Throws FORBIDDEN inside a process of an agent.
	 */
	attend(ask: (question: { readonly task: string; readonly signal: AbortSignal }) => Promise<string | null>): () => void;
}

export const sudoView = ({ home, sudo }: AgentRuntime): SudoView => ({
	attend(ask) {
		if (typeof ask !== "function") throw new HoldfastError("INVALID", "runtime.sudo.attend: give a function that asks a person");
		mustBePerson(home);
		sudo.passwords.askPerson = ask;
		return () => {
			if (sudo.passwords.askPerson === ask) sudo.passwords.askPerson = undefined;
		};
	},
});
