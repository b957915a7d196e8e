/** The front of this room: ask a person about a command, show what waits, answer it. docs/approvals.md has the whole story. */
import { setMaxListeners } from "node:events";
import type { Audit } from "../audit/index.js";
import { type Config, configFile, HoldfastError, type Home, lazy, loadConfig, until, versionOf, Wakeup, watchAll, watchEnd } from "../base/index.js";
import type { More } from "../policy/index.js";
import { type Answer, type Approval, CHOICES, type Question } from "./approval.js";
import { keepDefinitions } from "./definitions.js";
import { grantForTask, grantsOf, revokeGrants } from "./grants.js";
import { type ApprovalOutcome, type Approver, type AskOptions, outcomeOf, type Reply, type Revoked, type Unanswered } from "./outcome.js";
import { mustBePerson } from "./person.js";
import { attend, isAttended } from "./presence.js";
import { countRefusal, forgetRefusals } from "./refusals.js";
import { type NewQuestion, Store, stateOf } from "./store.js";

const loadAlways = lazy(() => import("./always.js"));

const MOST_PENDING = 50; // of one task
const LONGEST_MESSAGE = 2_000;

/** The program that withdraws a question by no longer waiting for it. */
const ASKER = "asker";

export class Approvals {
	readonly #home: Home;
	readonly #audit: Audit;
	readonly #store: Store;
	readonly #env: NodeJS.ProcessEnv;
	readonly #closing = new AbortController();
	#settings: { version: string; is: Config["approvals"] } | undefined;

	constructor(home: Home, audit: Audit, env: NodeJS.ProcessEnv = process.env) {
		this.#home = home;
		this.#audit = audit;
		this.#store = new Store(home);
		this.#env = env;
		setMaxListeners(0, this.#closing.signal);
	}

	/** Returns the pending questions, oldest first; with `all` also what was settled in the last hour. */
	list(options: { task?: string; all?: boolean } = {}): Approval[] {
		return this.#store
			.all()
			.filter(({ question }) => options.task === undefined || question.task === options.task)
			.map(({ question, names }) => this.#store.view(question, names))
			.filter(({ state }) => options.all || state === "pending");
	}

	/** Returns one by its id, or by 4 or more of its digits. */
	get(id: string): Approval {
		return this.#store.view(this.#find(id));
	}

	/** The first answer counts. Throws ANSWERED, saying who was first, to all others, and FORBIDDEN inside a process that is kept for an agent. */
	async answer(id: string, reply: Reply): Promise<Approval> {
		mustBePerson(this.#home);
		const { answer, message, by = "library" } = reply;
		const question = this.#find(id);
		if (!CHOICES.includes(answer)) throw new HoldfastError("INVALID", `an answer is one of ${question.choices.join(", ")}, not "${String(answer)}"`);
		if (message !== undefined && (typeof message !== "string" || message.length > LONGEST_MESSAGE))
			throw new HoldfastError("INVALID", `a message has ${LONGEST_MESSAGE} characters at most; nothing was answered`);
		if (!question.choices.includes(answer))
			throw new HoldfastError("INVALID", `"${answer}" cannot be answered here (see docs/approvals.md); give one of ${question.choices.join(", ")}`);
		this.#mustBePending(question);
		const waiting = this.#store.isAwaited(question.id);
		const addRule = answer === "always" ? await (await loadAlways()).prepareAlways(question, by, this.#env) : undefined;
		const settled: Answer = { answer, by, ...(message ? { message } : {}), at: Date.now() };
		if (!this.#settle(question, settled)) {
			this.#mustBePending(question);
			throw new HoldfastError("ANSWERED", `${question.id} cannot be answered: the file of its answer is damaged; it expires, which is a no`);
		}
		try {
			if (answer === "task") grantForTask(this.#home, question, settled);
			await addRule?.();
		} catch (error) {
			throw new HoldfastError(
				"CONFIG",
				`${question.id} is answered, for this one run: what would allow it later could not be written (${(error as Error).message})`,
				{
					cause: error,
				},
			);
		}
		return { ...this.#store.view(question), waiting };
	}

	/**
	 * Takes back what was allowed for a task: for its rest, and once where no call has made use of that; and withdraws its open questions, so that
	 * calls that wait are refused. What was allowed for good is a rule in policy.json, and stays. Throws FORBIDDEN inside a process of an agent.
	 */
	revoke(task: string, { by = "library" }: { readonly by?: string } = {}): Revoked {
		mustBePerson(this.#home);
		if (typeof task !== "string" || task === "") throw new HoldfastError("INVALID", "approvals.revoke: give the name of a task");
		if (typeof by !== "string") throw new HoldfastError("INVALID", "approvals.revoke: `by` is text: who takes it back");
		const questions = this.#store.all().filter(({ question }) => question.task === task);
		const withdrawn: string[] = [];
		const unused: string[] = [];
		for (const { question } of questions) {
			const { id } = question;
			if (stateOf(question, this.#store.answerOf(id)) === "pending" && this.#settle(question, { answer: "withdrawn", by, at: Date.now() })) withdrawn.push(id);
			else if (this.#store.answerOf(id)?.answer === "once" && this.#store.use(id)) unused.push(id);
		}
		const grants = revokeGrants(this.#home, task);
		if (grants.length + unused.length > 0)
			this.#audit.note(task, { event: "decided", outcome: "revoked", by, note: `taken back: ${[...grants.map(({ id }) => id), ...unused].join(", ")}` });
		const allowed = grants.map(({ id, command, cwd, place, by: who }) => ({
			approval_id: id,
			command: this.#home.secrets.redact(command),
			cwd,
			place,
			by: who,
		}));
		return { task, allowed, unused, withdrawn };
	}

	/** Declares that a person is shown pending questions (a page, a terminal), of one task or of all, so that its calls wait for an answer. Returns a function that ends that. */
	attend({ task }: { readonly task?: string } = {}): () => void {
		return attend(this.#home, task);
	}

	isAttended = (task: string): boolean => isAttended(this.#home, task);

	/** Yields each pending question once, then each new one. A listener counts as a person who answers, for that task or for all. */
	async *stream(options: { task?: string; signal?: AbortSignal } = {}): AsyncGenerator<Approval, void> {
		const signal = options.signal ? AbortSignal.any([options.signal, this.#closing.signal]) : this.#closing.signal;
		const wakeup = new Wakeup();
		const unwatch = this.#home.watch.directory(this.#store.dir, wakeup.poke);
		const leave = this.attend(options.task === undefined ? {} : { task: options.task });
		let seen = new Set<string>();
		try {
			while (!signal.aborted) {
				const waiting = this.list(options);
				seen = new Set(waiting.map(({ id }) => id).filter((id) => seen.has(id)));
				const next = waiting.find(({ id }) => !seen.has(id));
				if (!next) await wakeup.next(undefined, signal);
				else {
					seen.add(next.id);
					yield next;
				}
			}
		} finally {
			leave();
			unwatch();
		}
	}

	/** Resolves with the state of a question once it is no longer pending; or when `signal` aborts. */
	async settled(id: string, signal: AbortSignal): Promise<Approval> {
		const ms = Date.parse(this.get(id).expires_at) - Date.now();
		const settled = () => [this.get(id)].find(({ state }) => state !== "pending");
		return (await until((poke) => this.#home.watch.directory(this.#store.dir, poke), settled, { deadline: performance.now() + ms, signal })) ?? this.get(id);
	}

	/** Asks about a command. An unused answer to the same question counts. */
	async ask(about: NewQuestion, options: AskOptions = {}): Promise<ApprovalOutcome> {
		const until = performance.now() + (options.within ?? Number.POSITIVE_INFINITY);
		for (;;) {
			if (options.signal?.aborted) throw new HoldfastError("ABORTED", "interrupted while a person was being asked; nothing was run");
			const { question, number } = this.#store.last(about);
			const outcome = question ? (this.#made(question) ?? (await this.#await(question, until, options))) : undefined;
			if (outcome) return outcome;
			if (question && stateOf(question, this.#store.answerOf(question.id)) === "pending") continue;
			if (!options.later && !this.#isThere(options, about.task) && this.settings().unattended !== "pending") return { kind: "unattended" };
			this.#checkCount(about.task);
			const asked = this.#store.ask(about, number + 1, this.settings().expires * 1000);
			if (asked) {
				const { id, command, cwd, place, parts } = asked;
				this.#audit.note(asked.task, {
					event: "asked",
					approval_id: id,
					command,
					cwd,
					place,
					parts: parts.map(({ text, rule, reason }) => ({ text, rule, reason })),
				});
			}
		}
	}

	/** Returns what was allowed for the rest of the task. */
	grants(task: string): More {
		return grantsOf(this.#home, task);
	}

	/** The task's shell will know these from now on. */
	defined(task: string, definitions: readonly string[]): void {
		keepDefinitions(this.#home, task, definitions);
	}

	/** Counts a refusal. Returns how many there were in a row. */
	refused(task: string): number {
		return countRefusal(this.#home, task);
	}

	allowed(task: string): void {
		forgetRefusals(this.#home, task);
	}

	/** Read again when the file has changed. */
	settings(): Config["approvals"] {
		const version = versionOf(configFile(this.#env));
		if (this.#settings?.version !== version) this.#settings = { version, is: loadConfig(this.#env).approvals };
		return this.#settings.is;
	}

	/** Ends all waits for answers; the questions stay. */
	close(): void {
		this.#closing.abort();
	}

	/** An answer given after the asker left is kept for the next identical request, for as long again as the question was open. */
	#made(question: Question): ApprovalOutcome | undefined {
		const answer = this.#store.answerOf(question.id) ?? (Date.now() >= question.expires ? this.#expire(question) : undefined);
		if (!answer) return undefined;
		const lapsed = Date.now() > answer.at + (question.expires - question.created);
		// A permission for the task or for good is a rule by now, unless a person has removed it.
		if (lapsed || answer.answer === "task" || answer.answer === "always" || answer.answer === "withdrawn" || !this.#store.use(question.id)) return undefined;
		return outcomeOf(question, answer);
	}

	/** undefined: it was settled, and it is for this call to ask again. */
	async #await(question: Question, by: number, options: AskOptions): Promise<ApprovalOutcome | undefined> {
		const { id } = question;
		const signal = AbortSignal.any([options.signal, options.yield, this.#closing.signal].filter((one) => one !== undefined));
		if (this.#store.answerOf(id)) return undefined;
		const unwait = this.#store.wait(id);
		const over = new AbortController();
		let { approver } = options;
		let asked: Unanswered | undefined;
		const through =
			approver &&
			this.#through(approver, question, over.signal).then((unanswered) => {
				asked = unanswered;
				approver = undefined;
			});
		const look = (): { readonly outcome: ApprovalOutcome | undefined } | undefined => {
			const answer = this.#store.answerOf(id) ?? (Date.now() >= question.expires ? this.#expire(question) : undefined);
			if (answer) {
				const mine = this.#store.use(id);
				const isOurs = answer.answer !== "withdrawn" || answer.by !== ASKER; // else another call has left: this one asks anew
				return { outcome: !isOurs || (answer.answer === "once" && !mine) ? undefined : outcomeOf(question, answer) };
			}
			if (options.signal?.aborted) throw new HoldfastError("ABORTED", "interrupted while a person was being asked; nothing was run");
			if (performance.now() >= by || this.#closing.signal.aborted || options.yield?.aborted) return { outcome: { kind: "pending", question, ...asked } };
			if (options.later) return { outcome: { kind: "pending", question } };
			if (this.#isThere({ ...(approver ? { approver } : {}) }, question.task)) return undefined;
			return { outcome: this.settings().unattended === "pending" ? { kind: "pending", question, ...asked } : { kind: "unattended" } };
		};
		try {
			const watch = watchAll((poke) => this.#home.watch.directory(this.#store.dir, poke), ...(through ? [watchEnd(through)] : []));
			const every = () => Math.min(question.expires - Date.now(), by - performance.now()); // by the clock that other programs go by
			return (await until(watch, look, { signal, every }))?.outcome;
		} finally {
			over.abort();
			unwait();
			if (options.signal?.aborted && !this.#store.isAwaited(id)) this.#settle(question, { answer: "withdrawn", by: ASKER, at: Date.now() });
		}
	}

	/** Never rejects. */
	async #through(approver: Approver, question: Question, signal: AbortSignal): Promise<Unanswered | undefined> {
		try {
			const reply = await approver(this.#store.view(question), signal);
			if (reply && "unanswered" in reply) return reply;
			if (reply && !signal.aborted) await this.answer(question.id, reply);
			return undefined;
		} catch {
			return { unanswered: "it could not be asked here, or the answer made no sense" }; // or another was first, whose answer counts
		}
	}

	#isThere({ approver }: Pick<AskOptions, "approver">, task: string): boolean {
		return approver !== undefined || this.isAttended(task);
	}

	#expire(question: Question): Answer {
		const answer: Answer = { answer: "expired", by: "nobody", at: question.expires };
		return this.#settle(question, answer) ? answer : (this.#store.answerOf(question.id) ?? answer);
	}

	/** Settles it and writes that down. Returns false if it was settled before. */
	#settle(question: Question, answer: Answer): boolean {
		if (!this.#store.settle(question.id, answer)) return false;
		const { message } = answer;
		this.#audit.note(question.task, {
			event: "decided",
			approval_id: question.id,
			outcome: answer.answer,
			by: answer.by,
			...(message === undefined ? {} : { message }),
		});
		return true;
	}

	#mustBePending(question: Question): void {
		const { state, answer, by } = this.#store.view(question);
		if (state === "answered") throw new HoldfastError("ANSWERED", `${question.id} was answered before: ${answer}, by ${by}; that answer counts`);
		if (state === "expired")
			throw new HoldfastError("ANSWERED", `${question.id} has expired: silence was taken for a no; if the command is tried again there will be a new question`);
		if (state === "withdrawn") {
			const who = this.#store.answerOf(question.id)?.by ?? ASKER;
			throw new HoldfastError(
				"ANSWERED",
				`${question.id} was withdrawn: ${who === ASKER ? "the call that asked was interrupted" : `all that was allowed for its task was taken back (${who})`}`,
			);
		}
	}

	#find(id: string): Question {
		const digits = String(id)
			.trim()
			.toLowerCase()
			.replace(/^appr_/, "");
		const found = /^[0-9a-f]{4,12}$/.test(digits) ? this.#store.all().filter(({ question }) => question.id.startsWith(`appr_${digits}`)) : [];
		if (found.length > 1) throw new HoldfastError("NOT_FOUND", `"${id}" fits ${found.length} approvals; give more digits`);
		if (!found[0]) throw new HoldfastError("NOT_FOUND", `there is no approval "${id}"; \`holdfast approvals\` lists those that wait`);
		return found[0].question;
	}

	#checkCount(task: string): void {
		if (this.list({ task }).length >= MOST_PENDING)
			throw new HoldfastError(
				"LIMIT",
				`${MOST_PENDING} questions of this task wait for a person already; nothing was run, and none is asked until those are answered or expire`,
			);
	}
}
