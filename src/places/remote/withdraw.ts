/**
 * Withdraws a start or a command whose sender died while sending it to a remote machine. Its arrival cannot be seen: it may still be in transit. So
 * this creates the
 * mark that an arrival creates, and that lets it happen only once: then it has not arrived, and never will. The mark is a dangling
 * link, which distinguishes it from the mark of an arrival, a directory.
 */
import { shellQuote } from "../../base/index.js";
import { RECORD_BYTES } from "../../keeper/index.js";
import type { Reach } from "./reach.js";
import { directoryIn, type Ready } from "./ready.js";

/** A line for a shell: that shell, and the name of the line. */
export interface SentLine {
	readonly shell: string;
	readonly name: string;
}

/** At most as long as a record. */
const UNSENT = "none its sender was killed before the shell got it; nothing ran";
const ABSENT = "lost there is nothing of it there, and no program will start it";
const STILLBORN = "lost it was being started, and its keeper never came up";

/** Records the end of what was withdrawn, on the remote machine. No effect if it has arrived. Idempotent. */
export async function withdraw(reach: Reach, id: string, line?: SentLine): Promise<void> {
	await reach.ask(
		async (link) => {
			const ready = await reach.prepare(link);
			await link.run(line ? unsend(ready, id, line) : unstart(ready, id));
		},
		{ again: true },
	);
}

const unsend = (ready: Ready, id: string, { shell, name }: SentLine): string => `umask 077; cd ${shellQuote(directoryIn(ready, shell))} || exit 0
${mark(`sent.${name}`)}
[ -L sent.${name} ] && cd ${shellQuote(directoryIn(ready, id))} && ${record("exit", UNSENT)}; exit 0`;

const unstart = (
	ready: Ready,
	id: string,
): string => `umask 077; mkdir -p ${shellQuote(directoryIn(ready, id))}; cd ${shellQuote(directoryIn(ready, id))} || exit 0
${mark("started")}
if [ -L started ]; then ${record("state", "closed 0")}; ${record("exit", ABSENT)}
elif [ ! -s meta ] && [ -n "$(find started -prune -mmin +1)" ]; then ${record("state", "closed 0")}; ${record("exit", STILLBORN)}
fi; exit 0`;

/** Whichever side creates the mark first wins. */
const mark = (name: string): string => `[ -d ${name} ] || ln -s withdrawn ${name} 2>/dev/null`;

const record = (name: string, text: string): string => `printf '%-${RECORD_BYTES - 1}s\\n' ${shellQuote(text)} 1<>${name}`;
