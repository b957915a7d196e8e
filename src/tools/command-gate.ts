/** The gate for one command: the rules decide, a person is asked if necessary, the audit records the command, and it runs. */
import { randomUUID } from "node:crypto";
import type { Answer, Choice, Question } from "../approvals/index.js";
import { markAudited } from "../audit/index.js";
import { factsOf } from "../places/index.js";
import type { Judge, Part, Verdict } from "../policy/index.js";
import type { Process } from "../process/index.js";
import { type Ask, doorOf } from "./ask.js";
import { askPerson, refusal } from "./ask-person.js";
import { isBroken } from "./broken.js";
import { type DecidedAbout, refusedByRule, unattended } from "./refused.js";
import type { TerminalResult } from "./result.js";

/** A directory name with these characters looks like a pattern in a rule. */
const PATTERN = /[*?]/;

/** Thrown when a person must be asked; nothing has run. */
class MustAsk extends Error {
	constructor(
		readonly verdict: Verdict,
		readonly cwd: string,
	) {
		super("a person has to be asked");
	}
}

/** A line that bash cannot parse only prints a syntax error, so it needs no approval. */
async function runsNothing(command: string, verdict: Verdict): Promise<boolean> {
	return askedAbout(verdict).every(({ rule }) => rule === "unreadable") && !command.includes("\n") && (await isBroken(command));
}

/** A person's permission: these rules, in this directory. */
interface Permission {
	readonly cwd: string;
	readonly rules: ReadonlySet<string>;
	readonly question: Question;
	readonly answer: Answer;
}

export class CommandGate {
	readonly #ask: Ask;
	readonly #command: string;
	readonly #judge: Judge;
	#permission: Permission | undefined;
	#run: { id: string; session: string } | undefined;
	#rule: string | null = null;
	#nothing = false;
	#defines: readonly string[] = [];

	private constructor(
		ask: Ask,
		command: string,
		judge: Judge,
		readonly tool: string,
	) {
		this.#ask = ask;
		this.#command = command;
		this.#judge = judge;
	}

	static async of(ask: Ask, command: string, tool = "terminal"): Promise<CommandGate> {
		return new CommandGate(ask, command, await ask.runtime.judge.for(command), tool);
	}

	/** The rule and approval that allowed the command, for a record. */
	get basis(): { rule?: string; approval_id?: string } {
		return { ...(this.#rule === null ? {} : { rule: this.#rule }), ...(this.#permission ? { approval_id: this.#permission.question.id } : {}) };
	}

	/** Runs `act`, which calls `check`. If a person must be asked, asks and runs `act` again. */
	async through<T>(act: () => Promise<T>): Promise<T> {
		for (;;) {
			try {
				return await act();
			} catch (error) {
				if (this.#judge.needsParser(error)) {
					await this.#judge.ready();
					continue;
				}
				if (!(error instanceof MustAsk)) throw error;
				if (await runsNothing(this.#command, error.verdict)) this.#nothing = true;
				else this.#permission = await this.#askAbout(error);
			}
		}
	}

	/** Throws unless the command may run in this directory. Must be quick: a shell waits for it. */
	check(cwd: string): void {
		const { runtime, task } = this.#ask;
		const verdict = this.#judge.judge(
			{
				command: this.#command,
				cwd,
				place: factsOf(runtime.wish, runtime.boundary),
				there: runtime.machine(task).account, // known by now, since its shell has been chosen
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
		const permission = this.#permission;
		if (!permission || permission.cwd !== runtime.machine(task).realPath(cwd) || askedAbout(verdict).some(({ rule }) => !permission.rules.has(rule ?? "")))
			throw new MustAsk(verdict, cwd);
	}

	/** Records the run before it starts. */
	begin(cwd: string, session: string, process?: Process): void {
		if (this.#run?.session === session) return;
		this.#run = { id: `run_${randomUUID().slice(-12)}`, session };
		const { runtime, task, notes, call } = this.#ask;
		this.#ask.record?.effect({ session });
		if (this.#defines.length > 0) runtime.approvals.defined(task, this.#defines);
		const written = runtime.audit.record(task, {
			event: "run",
			run: this.#run.id,
			session_id: session,
			...(call.id === undefined ? {} : { call: call.id }),
			command: this.#command,
			cwd,
			place: runtime.placeName,
			...(runtime.wish.user === undefined ? {} : { user: runtime.wish.user }),
			by: doorOf(this.#ask),
			...this.basis,
		});
		if (process) this.#leaveTo(process);
		if (!written) notes.push("The disk is full, so this is not in the audit.");
	}

	/** Records how the command ended. If it still runs, the program that records its end does that. */
	ended({ status, exit_code, signal, duration_ms }: TerminalResult, process: Process, { silent = false } = {}): void {
		if (status === "running") this.#leaveTo(process);
		if (!this.#run || status === "running") return;
		const { runtime, task } = this.#ask;
		runtime.audit.note(task, {
			event: "ended",
			run: this.#run.id,
			session_id: this.#run.session,
			...(this.#ask.call.id === undefined ? {} : { call: this.#ask.call.id }),
			status,
			exit_code,
			...(signal === undefined ? {} : { signal }),
			...(duration_ms === undefined ? {} : { duration_ms }),
			...(silent ? { bytes: 0 } : {}),
		});
	}

	#leaveTo({ dir }: Process): void {
		try {
			if (this.#run) markAudited(dir, this.#run.id);
		} catch {
			// disk full, or pruned: then the end is derived while a record of it exists
		}
	}

	async #askAbout({ verdict, cwd }: MustAsk): Promise<Permission> {
		const { runtime, task } = this.#ask;
		const parts = askedAbout(verdict).map(({ start, end, text, rule, reason }) => ({ start, end, text, rule: rule ?? "", reason: reason ?? "" }));
		const real = runtime.machine(task).realPath(cwd);
		const asked = { command: this.#command, cwd: real, parts, choices: this.#choices(cwd), about: verdict, tool: this.tool };
		const { question, answer } = await askPerson(this.#ask, asked);
		return { cwd: question.cwd, rules: new Set(question.parts.map(({ rule }) => rule)), question, answer };
	}

	#canBeAsked(): boolean {
		const { approver, asksLater } = this.#ask.call;
		return approver !== undefined || asksLater === true || this.#ask.runtime.approvals.isAttended(this.#ask.task);
	}

	/** Returns the possible answers. A lasting permission is a rule that names the whole command and its directory; a secret must not enter a rules file. */
	#choices(cwd: string): Choice[] {
		if (PATTERN.test(this.#ask.runtime.machine(this.#ask.task).realPath(cwd)) || this.#command.length > this.#judge.longestText) return ["once", "no"];
		const { secrets } = this.#ask.runtime.home;
		return secrets.withMasking(() => secrets.redact(this.#command)) === this.#command ? ["once", "task", "always", "no"] : ["once", "task", "no"];
	}

	#refuse(verdict: Verdict, cwd: string, outcome: string, say: (verdict: DecidedAbout, times: number) => Error): Error {
		return refusal(this.#ask, { command: this.#command, cwd, about: verdict, outcome }, say);
	}
}

const askedAbout = ({ parts }: Verdict): Part[] => parts.filter(({ decision }) => decision === "ask");
