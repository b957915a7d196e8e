/** The keyboard comes back to an agent: it is told so, with what was printed while a person had it. */
import { Audit } from "../audit/index.js";
import { counted, ensureDir, type Home } from "../base/index.js";
import { describeEnd, type Holder, isOver, type Keyboard, type Process, sizeOf, takeLostHolder } from "../process/index.js";
import { Queue } from "./queue.js";

const COUNTED = 4 * 1024 * 1024; // bytes in which lines are counted

/** Gives the keyboard back. If another person has taken it over, the notice comes when that person gives it back. */
export function handBack(home: Home, process: Process, keyboard: Keyboard): void {
	if (!keyboard.held()) return;
	try {
		tell(home, process, keyboard.holder, "returned");
	} finally {
		keyboard.release(); // also when the notice cannot be written, on a full disk
		restoreSize(process, keyboard.holder);
	}
}

/** If a person had it and was cut off: say so, once. */
export function handBackLost(home: Home, process: Process): void {
	const holder = takeLostHolder(process);
	if (!holder) return;
	restoreSize(process, holder);
	tell(home, process, holder, "lost");
}

/** Gives the terminal the size back that it had for the agent. */
function restoreSize(process: Process, { size }: Holder): void {
	if (!size || isOver(process.status())) return;
	const now = sizeOf(process);
	if (now?.cols !== size.cols || now.rows !== size.rows) void process.resize(size.cols, size.rows).catch(() => {}); // it has just ended, or cannot be reached
}

function tell(home: Home, process: Process, { who, since, offset, nonce }: Holder, outcome: "returned" | "lost"): void {
	const { end } = process.log.bounds();
	const bytes = Math.max(0, end - offset);
	const duration_ms = Math.max(0, Date.now() - since);
	const seconds = Math.max(1, Math.round(duration_ms / 1000));
	Audit.note(home, process.spec.task, { event: "keyboard", outcome, session_id: process.id, by: who, duration_ms, bytes });
	const printed =
		bytes === 0
			? "Nothing was printed meanwhile."
			: `Meanwhile it printed ${counted(bytes, "byte")}${lines(process, offset, bytes)}: process(action="log", session_id="${process.id}", byte_offset=${offset}) shows them${process.spec.terminal ? ', and action="screen" how it looks now' : ""}.`;
	const status = process.status();
	const over = isOver(status) ? ` It has ended (${describeEnd(status)}).` : "";
	const text = `The keyboard of ${process.id} is yours again: ${who} had it for ${seconds} s. ${printed}${over}`;
	const queue = new Queue(home, process.spec.task);
	ensureDir(queue.dir);
	queue.put({ id: `keyboard-${process.id}-${nonce}`, kind: "keyboard", session_id: process.id, text, byte_offset: offset }, Date.now());
}

function lines(process: Process, offset: number, bytes: number): string {
	if (bytes > COUNTED) return "";
	const count = process.read(offset, bytes).bytes.reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0);
	return ` (${counted(count, "line")})`;
}
