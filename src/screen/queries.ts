/**
 * Programs ask their terminal things: where is the cursor, what are you, which colours. There is no answer when no
 * person's terminal is attached, so a runtime does, by keeping a screen of its own and sending what that says.
 */
import path from "node:path";
import { HoldfastError, Lease } from "../base/index.js";
import type { Process } from "../process/index.js";
import { answeredByPersons } from "./persons.js";
import { LiveScreen } from "./screen.js";

export interface AnswerOptions {
	readonly signal?: AbortSignal;
	/**
	 * Answer what was printed from this offset on. Default: the end of the log, since older queries were for
	 * another program. The program that has just started the process gives 0, and so misses nothing.
	 */
	readonly from?: number;
}

/** The screen is only needed when something is asked. It catches up in a pause, so that little is left to do then. */
const PAUSE_MS = 250;
const REPLAY_BYTES = 1024 * 1024; // what is older hardly changes an answer
/** A question may come in two pieces. */
const CUT = 64;
const QUESTION = /\x1b(?:\[[?>=]?[\d;]*\$?[cnptqu]|\](?:1[0-2]);[^\x07\x1b]*\?|P[$+]q)/;

/** Answer until the process ends or `signal` aborts. Of all who do this at the same time one does, and the others stand by. */
export async function answerQueries(process: Process, options: AnswerOptions = {}): Promise<void> {
	const { signal } = options;
	const from = options.from ?? process.log.bounds().end;
	const answerer = path.join(process.dir, "answerer");
	let answers: string[] | undefined; // undefined: what is fed now is not ours to answer
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
				).unref(); // if it fails, so does the next
				continue;
			}
			const mine = lease?.held();
			if (!mine) lease = Lease.take(answerer);
			// Before we had the lease it was for another to answer, and while a person's terminal is there, for that.
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
		if (!over) throw error; // else the program waits for no answer any more
	} finally {
		clearTimeout(pause);
		lease?.release();
		screen?.dispose();
	}
}
