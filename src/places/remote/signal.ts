/** Sends signals on a remote machine: one script for any number, so that they arrive together; only shell builtins, so that nothing delays them. */
import { constants } from "node:os";
import { type Delivery, HoldfastError, type Sent } from "../../base/index.js";
import { type Runs, SETUP } from "./script.js";

/**
 * `one SIGNAL PID [OF START]`: OF must be alive and have that start time. Signal 0, which has no effect, tells why
 * another one failed. No `-s` and no `--`: dash takes no group with the one, busybox not the other.
 */
const SCRIPT = `${SETUP}; set -f
one() {
	if [ -n "$3" ]; then
		line=
		{ while IFS= read -r part; do line="$line $part"; done </proc/$3/stat; } 2>/dev/null
		start=$4; set -- "$1" "$2" \${line##*) }
		case $3 in Z | X) echo gone; return ;; esac
		[ "$#" -gt 22 ] && [ "\${22}" = "$start" ] || { echo gone; return; }
	fi
	kill "-$1" "$2" 2>/dev/null && { echo sent; return; }
	case $(kill -0 "$2" 2>&1) in *ermi*) echo refused;; *) echo gone;; esac
}`;

/** Sends `SIGNAL PID [OF START]` each; returns the answers in the same order. */
export type Signals = (lines: readonly string[]) => Promise<string[]>;

export async function signalsBy(run: Runs, lines: readonly string[]): Promise<string[]> {
	const { output } = await run(`${SCRIPT}\n${lines.map((line) => `one ${line}`).join("\n")}`);
	return output.toString("latin1").split("\n").slice(0, lines.length);
}

export async function remoteSignal(signals: Signals, sent: readonly Sent[]): Promise<Delivery[]> {
	if (sent.length === 0) return [];
	const said = await signals(sent.map(lineOf));
	if (said.length < sent.length || !said.every(isDelivery))
		throw new HoldfastError("INTERNAL", "the other machine did not say whether the signals arrived; look who is left");
	return said.filter(isDelivery);
}

const isDelivery = (word: string): word is Delivery => word === "sent" || word === "gone" || word === "refused";

function lineOf({ pid, signal, of }: Sent): string {
	if (!Number.isSafeInteger(pid) || pid === 0 || pid === -1) throw new HoldfastError("INVALID", `not a process or a group of them: ${pid}`);
	if (of && !/^\d+$/.test(of.start)) throw new HoldfastError("INVALID", `not the start of a process: ${of.start}`);
	return `${nameOf(signal)} ${pid}${of ? ` ${of.pid} ${of.start}` : ""}`;
}

/** Returns a number for signals outside POSIX: not every shell knows their names. */
function nameOf(signal: NodeJS.Signals): string | number {
	if (!Object.hasOwn(constants.signals, signal)) throw new HoldfastError("INVALID", `there is no signal "${signal}"`);
	const name = signal.slice(3);
	return /^(IO|POLL|STKFLT|PWR|WINCH|UNUSED|SYS|PROF|VTALRM|XCPU|XFSZ|IOT)$/.test(name) ? constants.signals[signal] : name;
}
