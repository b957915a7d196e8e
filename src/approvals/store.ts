/**
 * The files of approvals, all in one directory, so that one watch tells of everything:
 * `q.TASK.KEY.N` a question (KEY: what is asked; N: how often it was), `a.ID` how it was settled, `u.ID` that this has been
 * made use of, `w.ID.WHO.NONCE` that a call waits for it; `g.TASK`, `d.TASK`, `r.TASK` and `h.WHO` are of grants.ts, definitions.ts, refusals.ts and presence.ts. A question and an answer are linked into place, so the first counts.
 */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type * as z from "zod";
import { errno, type Home, isGone, me, namesIn, readIfThere, statIfThere, taskKey, unlinkIfThere, writeWhole } from "../base/index.js";
import { type Redactor, revealInPlace } from "../base/secrets/index.js";
import { type Answer, type Approval, answerSchema, type Choice, type Question, questionSchema } from "./approval.js";

/** How long settled questions can still be looked at. */
const KEPT_MS = 3_600_000;
/** A task's permissions are forgotten when none was added for so long. */
const TASK_KEPT_MS = 7 * 24 * KEPT_MS;

export type NewQuestion = Pick<Question, "task" | "command" | "cwd" | "place" | "parts" | "choices">;

export class Store {
	readonly dir: string;

	readonly #secrets: Redactor;

	constructor(home: Home) {
		this.#secrets = home.secrets;
		this.dir = home.approvals;
	}

	/** The question last asked about the same command of the same task in the same place; and its number. */
	last(about: NewQuestion): { question: Question | undefined; number: number } {
		const prefix = `q.${taskKey(about.task)}.${keyOf(about)}.`;
		const number = Math.max(0, ...namesIn(this.dir).flatMap((name) => (name.startsWith(prefix) ? [Number(name.slice(prefix.length))] : [])));
		const question = number === 0 ? undefined : this.#read(`${prefix}${number}`, questionSchema);
		return { question: question && isSame(question, about) ? question : undefined, number };
	}

	/** undefined when another was faster to ask the same. */
	ask(about: NewQuestion, number: number, expiresMs: number): Question | undefined {
		const created = Date.now();
		const question: Question = { v: 1, id: `appr_${randomBytes(6).toString("hex")}`, ...about, created, expires: created + expiresMs };
		return this.#fresh(`q.${taskKey(about.task)}.${keyOf(about)}.${number}`, question) ? question : undefined;
	}

	answerOf(id: string): Answer | undefined {
		return this.#read(`a.${id}`, answerSchema);
	}

	/** Settle it; false when it was settled before. */
	settle(id: string, answer: Answer): boolean {
		return this.#fresh(`a.${id}`, answer);
	}

	/** Marks an answer as used. Returns false if another call has used it. */
	use(id: string): boolean {
		try {
			fs.writeFileSync(path.join(this.dir, `u.${id}`), "", { flag: "wx", mode: 0o600 });
			return true;
		} catch (error) {
			if (errno(error) === "EEXIST") return false;
			throw error;
		}
	}

	isUsed = (id: string): boolean => fs.existsSync(path.join(this.dir, `u.${id}`));

	/** Declares that a call waits for it. Returns a function that ends that. */
	wait(id: string): () => void {
		const file = path.join(this.dir, `w.${id}.${me()}.${randomBytes(3).toString("hex")}`);
		fs.writeFileSync(file, "", { mode: 0o600 });
		return () => unlinkIfThere(file);
	}

	isAwaited(id: string, names = namesIn(this.dir)): boolean {
		const prefix = `w.${id}.`;
		return names.some((name) => name.startsWith(prefix) && !this.#isLeft(name, prefix));
	}

	/** All there are, oldest first. What has long been over is removed on the way. */
	all(): { question: Question; names: readonly string[] }[] {
		const names = namesIn(this.dir);
		const found: { question: Question; names: readonly string[] }[] = [];
		for (const name of names) {
			if (/^[dgr]\./.test(name) && Date.now() - (statIfThere(path.join(this.dir, name))?.mtimeMs ?? 0) > TASK_KEPT_MS) unlinkIfThere(path.join(this.dir, name));
			if (!name.startsWith("q.")) continue;
			const question = this.#read(name, questionSchema);
			if (!question || Date.now() > question.expires + KEPT_MS) this.#forget(name, question, names);
			else found.push({ question, names });
		}
		return found.sort((a, b) => a.question.created - b.question.created);
	}

	view(question: Question, names?: readonly string[]): Approval {
		const settled = this.answerOf(question.id);
		const { id, task, cwd, place, choices, created, expires } = question;
		const answered = settled && settled.answer !== "expired" && settled.answer !== "withdrawn";
		return {
			id,
			task,
			...masked(this.#secrets, question),
			cwd,
			place,
			choices,
			state: stateOf(question, settled),
			created_at: new Date(created).toISOString(),
			expires_at: new Date(expires).toISOString(),
			waiting: !settled && this.isAwaited(id, names as string[] | undefined),
			...(answered ? { answer: settled.answer as Choice, by: settled.by, answered_at: new Date(settled.at).toISOString() } : {}),
			...(settled?.message === undefined ? {} : { message: settled.message }),
		};
	}

	#isLeft(name: string, prefix: string): boolean {
		const file = path.join(this.dir, name);
		if (!isGone(name.slice(prefix.length), file)) return false;
		unlinkIfThere(file);
		return true;
	}

	#forget(name: string, question: Question | undefined, names: readonly string[]): void {
		const file = path.join(this.dir, name);
		// An unreadable question may be of a newer version: it is removed only when it is old.
		if (!question && Date.now() - (statIfThere(file)?.mtimeMs ?? 0) < 24 * KEPT_MS) return;
		unlinkIfThere(file);
		if (question) for (const other of names) if (other.split(".")[1] === question.id) unlinkIfThere(path.join(this.dir, other));
	}

	#fresh(name: string, content: Question | Answer): boolean {
		try {
			writeWhole(path.join(this.dir, name), `${JSON.stringify(content)}\n`, { fresh: true });
			return true;
		} catch (error) {
			if (errno(error) === "EEXIST") return false;
			throw error;
		}
	}

	#read<T>(name: string, schema: z.ZodType<T>): T | undefined {
		const text = readIfThere(path.join(this.dir, name));
		if (text === undefined) return undefined;
		try {
			return schema.parse(JSON.parse(text));
		} catch {
			return undefined; // nothing that we write: it counts as no question and no answer
		}
	}
}

/** Without secrets; a part is where it was, in bytes of what is shown. */
function masked(secrets: Redactor, { command, parts }: Question): Pick<Approval, "command" | "parts"> {
	const shown = secrets.withMasking(() => revealInPlace(secrets.hide(command)));
	if (shown === command) return { command, parts };
	const bytes = Buffer.from(command);
	const moved = (at: number) => Buffer.byteLength(shown.slice(0, bytes.toString("utf8", 0, at).length));
	const shownBytes = Buffer.from(shown);
	return {
		command: shown,
		parts: parts.map((part) => {
			const [start, end] = [moved(part.start), moved(part.end)];
			return { ...part, start, end, text: shownBytes.toString("utf8", start, end) };
		}),
	};
}

export function stateOf(question: Question, settled: Answer | undefined): Approval["state"] {
	if (settled) return settled.answer === "expired" || settled.answer === "withdrawn" ? settled.answer : "answered";
	return Date.now() >= question.expires ? "expired" : "pending";
}

/** Returns a key that two identical calls share. */
const keyOf = ({ command, cwd, place }: NewQuestion): string =>
	createHash("sha256")
		.update(JSON.stringify([command, cwd, place]))
		.digest("hex")
		.slice(0, 24);

/** Keys are cut, and a rule may have changed what is dangerous in it. */
const isSame = (question: Question, about: NewQuestion): boolean =>
	question.task === about.task &&
	question.command === about.command &&
	question.cwd === about.cwd &&
	question.place === about.place &&
	rulesOf(question) === rulesOf(about);

const rulesOf = ({ parts }: NewQuestion): string => [...new Set(parts.map(({ rule }) => rule))].sort().join(" ");
