/**
 * Reads the state of a remote process from its replica. The replica may be stale, so it settles only what stays true: a recorded end, a part that was
 * seen dead, a
 * directory that existed and is gone. A command has a replica of its own beside that of its shell, and either may be the newer one.
 */
import { isDead, ownExit, type RemoteState, readRemoteState, type Spec, siblingOf, wasTaken } from "../../keeper/index.js";
import type { Sight } from "../sight.js";

export function remoteSight(dir: string, spec: Spec): Sight {
	const own = once(() => readRemoteState(dir));
	const there = spec.within ? once(() => readRemoteState(siblingOf(dir, spec.within?.shell ?? ""))) : own;
	return {
		absence() {
			if (!there()?.at) return { kind: "unseen" }; // its starter may have been killed before anything of it was seen
			const reason = there()?.lost ?? (spec.within && isDead(there(), spec.within.bash) ? own()?.lost : undefined);
			return reason === undefined ? undefined : { kind: "lost", reason };
		},
		lives: (part) => !isDead(there(), part),
		/** The end of its shell counts once a look at the command itself has found the shell dead. */
		commandLives: (command) => !isDead(own(), command),
		plainlyLives: () => false,
		neverSent: () => false, // `sync` finds out
		neverTaken: (within) => !wasTaken(dir, within), // a link may have broken while it was sent
		goOn() {},
		mayCome: (parts) => !parts.keeper, // `sync` finds out
		get stale() {
			const seen = own();
			return seen?.unreachable === undefined ? undefined : { reason: seen.unreachable, at: seen.at };
		},
		hasChildren: () => (own()?.children.length ?? 0) > 0,
	};
}

/** Returns true if the replica of a shell says that it is dead, and that of its command is older: how the command ended is not known yet. */
export function endsWithShell(dir: string, spec: Spec): boolean {
	if (!spec.within || ownExit(dir, spec)) return false;
	const own = readRemoteState(dir);
	return own?.lost === undefined && !isDead(own, spec.within.bash) && isDead(readRemoteState(siblingOf(dir, spec.within.shell)), spec.within.bash);
}

/** Reads once, so that one look is of one time. */
function once(read: () => RemoteState | undefined): () => RemoteState | undefined {
	let seen: { readonly there: RemoteState | undefined } | undefined;
	return () => {
		seen ??= { there: read() };
		return seen.there;
	};
}
