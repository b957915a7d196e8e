/**
 * Programs ask their terminal things: where is the cursor, what are you, which colours. Nobody is there to answer when no
 * person's terminal is attached, so a runtime does, by keeping a screen of its own and sending what that says.
 */
import path from "node:path";
import { HoldfastError } from "../base/errors.js";
import { Lease } from "../base/lease.js";
import type { Slice } from "../process/log.js";
import type { Process } from "../process/process.js";
import { answeredByPersons } from "./persons.js";
import { LiveScreen } from "./screen.js";

export interface AnswerOptions {
	readonly signal?: AbortSignal;
	/**
	 * Answer what was printed from this offset on. Default: the end of the log, for what is older has been asked of
	 * somebody else. Who has just started the process gives 0, and so misses nothing.
	 */
	readonly from?: number;
}

/** Output that comes in pieces of this size is not a program that asks and waits, unless it contains a question. */
const FLOOD = 128 * 1024;
const QUESTION = /\x1b(?:\[[?>=]?[\d;]*\$?[cnptqu]|\](?:1[0-2]);[^\x07\x1b]*\?|P[$+]q)/;

/** Answer until the process ends or `signal` aborts. Of all who do this at the same time one does, and the others stand by. */
export async function answerQueries(process: Process, options: AnswerOptions = {}): Promise<void> {
	const { signal } = options;
	const from = options.from ?? process.log.bounds().end;
	const answerer = path.join(process.dir, "answerer");
	let answers: string[] | undefined; // undefined: what is fed now is not ours to answer
	const screen = new LiveScreen(process, { onAnswer: (bytes) => answers?.push(bytes) });
	let lease: Lease | undefined;
	try {
		lease = await Lease.take(answerer);
		await screen.read({ upTo: from });
		for await (const slice of process.follow({ from, signal })) {
			if (slice.bytes.length >= FLOOD && !asks(slice)) continue; // the screen catches up when it is over
			const mine = lease?.held();
			if (!mine) lease = await Lease.take(answerer);
			// Before we had the lease it was for another to answer, and while a person's terminal is there, for that.
			const persons = answeredByPersons(process.dir);
			const theirs = Math.min(Math.max(mine ? 0 : slice.offset, persons), slice.next);
			if (theirs > 0) await screen.read({ upTo: theirs });
			answers = lease ? [] : undefined;
			await screen.read({ upTo: slice.next });
			if (answers?.length && lease?.held() && answeredByPersons(process.dir) === persons) await process.write(answers.join(""), { signal });
			answers = undefined;
		}
	} catch (error) {
		const over = error instanceof HoldfastError && ["ENDED", "STDIN_CLOSED", "ABORTED"].includes(error.code);
		if (!over) throw error; // else nobody waits for an answer any more
	} finally {
		lease?.release();
		screen.dispose();
	}
}

const asks = (slice: Slice): boolean => QUESTION.test(slice.bytes.toString("latin1"));
