/** Decides, from the state of a program and its terminal, whether it waits for input, and for what kind. No system calls. */
import type { Stat } from "../base/index.js";
import type { Blocked } from "./blocked.js";
import type { Beside } from "./servers.js";
import type { TtyModes } from "./tty.js";

export type WaitingFor = "line" | "password" | "keys" | "idle";

export type WaitVerdict =
	| {
			readonly kind: "waiting";
			readonly for: Exclude<WaitingFor, "idle">;
			readonly evidence: string;
			/** The program also wakes by itself, for example to draw a spinner: it counts as waiting only when it is quiet. */
			readonly timed: boolean;
	  }
	| { readonly kind: "no" }
	/** The program will not continue by itself, whatever is typed. */
	| { readonly kind: "stopped"; readonly why: string }
	/** The kernel does not tell. Silence decides. */
	| { readonly kind: "unknown"; readonly why: string };

const NO: WaitVerdict = { kind: "no" };
/** Programs that pass keys on to where this machine cannot look, always in raw mode. Behind tmux and screen another process reads them. */
const RELAYS = new Set(["ssh", "mosh-client", "telnet", "docker", "podman", "kubectl", "tmux: client", "screen", "dtach", "abduco"]);

type Who = Pick<Stat, "comm" | "pid" | "state">;

/** Returns true for a relay that is idle. */
export const isRelay = ({ comm, state }: Who): boolean => state === "S" && RELAYS.has(comm);

/** Decides what the program in the foreground (`who`) waits for. `modes`: undefined if they could not be read. */
export function decide(found: Blocked, who: Who, modes: TtyModes | undefined, beside: Beside = "none"): WaitVerdict {
	const name = `${who.comm} (pid ${who.pid})`;
	if (isRelay(who) && !modes?.canonical) return { kind: "unknown", why: `${name} passes keys on to where the kernel here cannot see` };
	switch (found.kind) {
		case "busy":
			return NO;
		case "reading":
			return waiting(`${name} is blocked in ${found.how} on the terminal`, modes, false) ?? line(`${name} is blocked in ${found.how} on the terminal`);
		case "watching": {
			const what = `${name} is blocked in ${found.how} ${found.sure ? "on the terminal" : "and has the terminal open"}`;
			// A server that also reads its terminal is serving, not asking; in raw mode it expects keys.
			if (modes?.canonical && (found.sockets || beside === "serving")) return NO;
			if (modes?.canonical && modes.echo && beside === "working") return { kind: "unknown", why: `${what}, and has started something that is at work` };
			if (modes?.canonical && modes.echo && !found.sure) return { kind: "unknown", why: `${what}, which may be for something else` };
			return waiting(what, modes, found.timed) ?? { kind: "unknown", why: `${what}; the terminal's modes cannot be read` };
		}
		case "hidden":
			if (modes?.canonical && modes.echo) return { kind: "unknown", why: `${name} is ${found.how}; the terminal is in its usual mode` };
			return waiting(`${name} is ${found.how}`, modes, false) ?? { kind: "unknown", why: `${name} is ${found.how}, nor what mode the terminal is in` };
	}
}

function waiting(what: string, modes: TtyModes | undefined, timed: boolean): WaitVerdict | undefined {
	if (!modes) return undefined;
	if (!modes.canonical) return { kind: "waiting", for: "keys", evidence: `${what}; the terminal gives it every key (raw mode)`, timed };
	if (!modes.echo) return { kind: "waiting", for: "password", evidence: `${what}; the terminal takes lines and does not echo`, timed };
	return { kind: "waiting", for: "line", evidence: `${what}; the terminal takes lines and echoes`, timed };
}

const line = (what: string): WaitVerdict => ({ kind: "waiting", for: "line", evidence: `${what}; its modes cannot be read, a line is a guess`, timed: false });
