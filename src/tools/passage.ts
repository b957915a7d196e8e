/** One command on its way: decided about, asked about if need be, put on record, run. */
import { randomUUID } from "node:crypto";
import type { Answer, Choice, Question } from "../approvals/approval.js";
import { markAudited } from "../audit/index.js";
import { realPath } from "../base/files.js";
import { redact, withMasking } from "../base/secrets/index.js";
import { isContained, isRemote } from "../places/address.js";
import type { Part, Verdict } from "../policy/decide.js";
import type { Judge } from "../policy/judge.js";
import type { Process } from "../process/process.js";
import { type Ask, doorOf } from "./ask.js";
import { isBroken } from "./broken.js";
import { denied, expired, pending, refusedByRule, unattended } from "./refused.js";
import type { TerminalResult, ToolName } from "./result.js";
import type { AgentRuntime } from "./runtime.js";

const ANSWER_MARGIN_MS = 500; // of what a door has: for the way back
/** Such a name cannot be told from a pattern. */
const PATTERN = /[*?]/;

/** A person has to be asked; nothing has run. */
class MustAsk extends Error {
	constructor(
		readonly verdict: Verdict,
		readonly cwd: string,
	) {
		super("a person has to be asked");
	}
}

/** One line that bash cannot read either does nothing but say so: a slip of the pen is nothing to ask a person about. */
async function runsNothing(command: string, verdict: Verdict): Promise<boolean> {
	return askedAbout(verdict).every(({ rule }) => rule === "unreadable") && !command.includes("\n") && (await isBroken(command));
}

/** What a person has allowed: these rules, there. */
interface Leave {
	readonly cwd: string;
	readonly rules: ReadonlySet<string>;
	readonly question: Question;
	readonly answer: Answer;
}

export class Passage {
	readonly #ask: Ask;
	readonly #command: string;
	readonly #judge: Judge;
	#leave: Leave | undefined;
	#run: { id: string; session: string } | undefined;
	#rule: string | null = null;
	#nothing = false;
	#defines: readonly string[] = [];

	private constructor(
		ask: Ask,
		command: string,
		judge: Judge,
		readonly tool: ToolName,
	) {
		this.#ask = ask;
		this.#command = command;
		this.#judge = judge;
	}

	static async of(ask: Ask, command: string, tool: ToolName = "terminal"): Promise<Passage> {
		return new Passage(ask, command, await ask.runtime.gate.judge(), tool);
	}

	/** What it was allowed by, for a record. */
	get basis(): { rule?: string; approval_id?: string } {
		return { ...(this.#rule === null ? {} : { rule: this.#rule }), ...(this.#leave ? { approval_id: this.#leave.question.id } : {}) };
	}

	/** Does what has `check` in it; if that finds that a person has to be asked, asks, and does it again. */
	async through<T>(act: () => Promise<T>): Promise<T> {
		for (;;) {
			try {
				return await act();
			} catch (error) {
				if (!(error instanceof MustAsk)) throw error;
				if (await runsNothing(this.#command, error.verdict)) this.#nothing = true;
				else this.#leave = await this.#askAbout(error);
			}
		}
	}

	/** Throws unless it may run there. Nothing that takes longer than a moment happens here: a shell waits for it. */
	check(cwd: string): void {
		const { runtime, task } = this.#ask;
		const verdict = this.#judge.judge(
			{
				command: this.#command,
				cwd,
				place: runtime.placeName,
				contained: isContained(runtime.wish),
				placeAlias: aliasOf(runtime),
				there: thereOf(runtime, task),
				task,
			},
			runtime.approvals.grants(task),
		);
		this.#rule = verdict.rule;
		this.#defines = verdict.defines;
		if (verdict.decision === "deny") throw this.#refuse(verdict, cwd, "refused_by_rule", refusedByRule);
		if (verdict.decision === "allow") {
			if (runtime.approvals.settings().unattended !== "allow-listed" || verdict.parts.every(({ rule }) => rule !== null) || this.#canBeAsked()) return;
			throw this.#refuse(verdict, cwd, "unattended", unattended);
		}
		if (this.#nothing) return;
		const leave = this.#leave;
		if (!leave || leave.cwd !== realCwd(runtime, cwd) || askedAbout(verdict).some(({ rule }) => !leave.rules.has(rule ?? ""))) throw new MustAsk(verdict, cwd);
	}

	/** Puts on record that it runs; before it does. */
	begin(cwd: string, session: string, process?: Process): void {
		if (this.#run?.session === session) return;
		this.#run = { id: `run_${randomUUID().slice(-12)}`, session };
		const { runtime, task, notes } = this.#ask;
		if (this.#defines.length > 0) runtime.approvals.defined(task, this.#defines);
		const written = runtime.audit.record(task, {
			event: "run",
			run: this.#run.id,
			session_id: session,
			command: this.#command,
			cwd,
			place: runtime.placeName,
			by: doorOf(this.#ask),
			...this.basis,
		});
		if (process) this.#leaveTo(process);
		if (!written) notes.push("The disk is full, so this is not in the audit.");
	}

	/** How it ended; if it has not, whoever notes that writes it down. */
	ended({ status, exit_code, signal, duration_ms }: TerminalResult, process: Process): void {
		if (status === "running") this.#leaveTo(process);
		if (!this.#run || status === "running") return;
		const { runtime, task } = this.#ask;
		runtime.audit.note(task, {
			event: "ended",
			run: this.#run.id,
			session_id: this.#run.session,
			status,
			exit_code,
			...(signal === undefined ? {} : { signal }),
			...(duration_ms === undefined ? {} : { duration_ms }),
		});
	}

	#leaveTo({ dir }: Process): void {
		try {
			if (this.#run) markAudited(dir, this.#run.id);
		} catch {
			// a full disk, or it was pruned: then it is worked out, as long as there is a record of it
		}
	}

	async #askAbout({ verdict, cwd }: MustAsk): Promise<Leave> {
		const { runtime, task, call, since, notes } = this.#ask;
		const { approver, asksLater, within } = call;
		const parts = askedAbout(verdict).map(({ start, end, text, rule, reason }) => ({ start, end, text, rule: rule ?? "", reason: reason ?? "" }));
		const outcome = await runtime.approvals.ask(
			{ task, command: this.#command, cwd: realCwd(runtime, cwd), place: runtime.placeName, parts, choices: this.#choices(cwd) },
			{
				...(this.#ask.signal ? { signal: this.#ask.signal } : {}),
				...(within === undefined ? {} : { within: Math.max(0, within - (performance.now() - since) - ANSWER_MARGIN_MS) }),
				...(call.yield ? { yield: call.yield } : {}),
				...(approver ? { approver } : {}),
				...(asksLater ? { later: true } : {}),
			},
		);
		if (outcome.kind === "unattended") throw this.#refuse(verdict, cwd, "unattended", unattended);
		if (outcome.kind === "pending") {
			const { question, unanswered } = outcome;
			const attended = (approver !== undefined && unanswered === undefined) || runtime.approvals.isAttended();
			throw pending(verdict, question, { attended, unanswered, tool: this.tool, home: runtime.home.root });
		}
		if (outcome.kind === "expired") throw expired(verdict, outcome.question, runtime.approvals.refused(task));
		if (outcome.kind === "denied") throw denied(verdict, outcome.question, outcome.answer, runtime.approvals.refused(task));
		const { question, answer } = outcome;
		runtime.approvals.allowed(task);
		notes.push(
			`A person allowed this (${FOR[answer.answer] ?? "once"}, ${answer.by})${answer.message === undefined ? "" : ` and says: ${answer.message.trim()}`}.`,
		);
		return { cwd: question.cwd, rules: new Set(question.parts.map(({ rule }) => rule)), question, answer };
	}

	#canBeAsked(): boolean {
		const { approver, asksLater } = this.#ask.call;
		return approver !== undefined || asksLater === true || this.#ask.runtime.approvals.isAttended();
	}

	/** What is allowed for longer is allowed by a rule that names the whole command and its directory; and a secret has no place in a file of rules. */
	#choices(cwd: string): Choice[] {
		if (PATTERN.test(realCwd(this.#ask.runtime, cwd)) || this.#command.length > this.#judge.longestText) return ["once", "no"];
		return withMasking(() => redact(this.#command)) === this.#command ? ["once", "task", "always", "no"] : ["once", "task", "no"];
	}

	#refuse(verdict: Verdict, cwd: string, outcome: string, say: (verdict: Verdict, times: number) => Error): Error {
		const { runtime, task } = this.#ask;
		runtime.audit.note(task, {
			event: "decided",
			outcome,
			command: this.#command,
			cwd,
			place: runtime.placeName,
			rule: verdict.rule,
			reason: verdict.reason,
			by: doorOf(this.#ask),
		});
		return say(verdict, runtime.approvals.refused(task));
	}
}

/** Of another machine nobody here knows where its links lead. */
const realCwd = ({ wish }: AgentRuntime, cwd: string): string => (isRemote(wish) ? cwd : realPath(cwd));

/** Known by now: a shell there has been chosen. */
function thereOf({ wish, boxes }: AgentRuntime, task: string): { home: string; own: string } | undefined {
	const login = isRemote(wish) ? boxes.forTask(wish, task).login : undefined;
	return login && { home: login.environment.HOME ?? "/", own: login.directory };
}

const aliasOf = ({ wish }: AgentRuntime): string | undefined => (isRemote(wish) ? wish.name : undefined);

const FOR: Readonly<Record<string, string>> = { task: "for this task", always: "always" };

const askedAbout = ({ parts }: Verdict): Part[] => parts.filter(({ decision }) => decision === "ask");
