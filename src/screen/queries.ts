/**
 * Programs query their terminal: the cursor position, its type, its colours. While no person's terminal is attached, a runtime answers: it keeps a
 * screen of its own and sends the answers of that.
 */
import path from "node:path";
import { HoldfastError, Lease } from "../base/index.js";
import type { Process } from "../process/index.js";
import { answeredByPersons } from "./persons.js";
import { LiveScreen } from "./screen.js";

export interface AnswerOptions {
	readonly signal?: AbortSignal;
	/**
	 * Answers queries from this offset on. Default: the end of the log, since older queries were for another program. The program that has just started
	 * the process passes 0 and so misses nothing.
	 */
	readonly from?: number;
}

/** The screen is needed only for a query. It catches up in a pause, so that a query finds little left to do. */
const PAUSE_MS = 250;
const REPLAY_BYTES = 1024 * 1024; // older output hardly changes an answer
/** A query may come in two pieces. */
const CUT = 64;
const QUESTION = /\x1b(?:\[[?>=]?[\d;]*\$?[cnptqu]|\](?:1[0-2]);[^\x07\x1b]*\?|P[$+]q)/;

/** Answers until the process ends or `signal` aborts. Of several concurrent callers one answers, and the others stand by. */
export async function answerQueries(process: Process, options: AnswerOptions = {}): Promise<void> {
	const { signal } = options;
	const from = options.from ?? process.log.bounds().end;
	const answerer = path.join(process.dir, "answerer");
	let answers: string[] | undefined; // undefined: this output is not for this program to answer
	let screen: LiveScreen | undefined;
	const current = (): LiveScreen => {
		if (screen && process.log.bounds().end - screen.offset < 2 * REPLAY_BYTES) return screen;
		screen?.dispose();
		screen = new LiveScreen(process, { replay: REPLAY_BYTES, onAnswer: (bytes) => answers?.push(bytes) });
		return screen;
	};
	let lease: Lease | undefined;
	let before = "";
	let pause: NodeJS.Timeout | undefined;
	try {
		lease = Lease.take(answerer);
		for await (const slice of process.follow({ from, signal })) {
			clearTimeout(pause);
			const text = before + slice.bytes.toString("latin1");
			before = text.slice(-CUT);
			if (!QUESTION.test(text)) {
				pause = setTimeout(
					() =>
						void current()
							.read({ upTo: slice.next })
							.catch(() => {}),
					PAUSE_MS,
				).unref(); // if this fails, so does the next read
				continue;
			}
			const mine = lease?.held();
			if (!mine) lease = Lease.take(answerer);
			// Queries from before this program had the lease were for its previous holder; while a person's terminal is attached, they are for that.
			const persons = answeredByPersons(process.dir);
			const theirs = Math.min(Math.max(from, mine ? 0 : slice.offset, persons), slice.next);
			const asked = current();
			if (theirs > 0) await asked.read({ upTo: theirs });
			answers = lease ? [] : undefined;
			await asked.read({ upTo: slice.next });
			if (answers?.length && lease?.held() && answeredByPersons(process.dir) === persons) await process.write(answers.join(""), { signal });
			answers = undefined;
		}
	} catch (error) {
		const over = error instanceof HoldfastError && ["ENDED", "STDIN_CLOSED", "ABORTED"].includes(error.code);
		if (!over) throw error; // otherwise the program no longer waits for an answer
	} finally {
		clearTimeout(pause);
		lease?.release();
		screen?.dispose();
	}
}
