/**
 * As an interactive bash with job control in the middle of a fork on a busy machine: it blocks TERM and INT, and ignores both once it has had so many seconds
 * of CPU time. Then it waits for its child, and goes on if that has been stopped.
 */
export function forks(seconds: number, child = `setpgrp; print "ready\\n"; exec "sleep", 600`, options = "WUNTRACED"): string {
	const late = `$SIG{CONT} = sub { $from = (times)[0]; 1 while (times)[0] < $from + ${seconds}; $SIG{TERM} = $SIG{INT} = "IGNORE"; sigprocmask(SIG_UNBLOCK, $both); $forked = 1 }`;
	const parent = `$both = POSIX::SigSet->new(SIGTERM, SIGINT); sigprocmask(SIG_BLOCK, $both); unless ($child = fork) { sigprocmask(SIG_UNBLOCK, $both); $| = 1; ${child} }`;
	return `perl -MPOSIX=:signal_h,WUNTRACED -e '${late}; ${parent} select undef, undef, undef, 0.01 until $forked; waitpid $child, ${options}; print "LATE\\n"'; echo LATE`;
}

/** Scripts that would go on if a part of them were ended before the rest: each prints `ready`, and then LATE if it does. */
export const SCRIPTS: Readonly<Record<string, string>> = {
	"a subshell in the background": "(sleep 600; echo LATE) & echo ready; sleep 600; echo LATE",
	"lists of && and ||": "echo ready; sleep 600 && echo LATE || echo LATE",
	"a pipeline": "echo ready; sleep 600 | (cat; echo LATE); echo LATE",
	"a loop": "echo ready; while :; do sleep 600; echo LATE; done",
	"scripts in scripts": `bash -c 'sh -c "echo ready; sleep 600; echo LATE"; echo LATE'; echo LATE`,
	"a command substitution": "echo ready; x=$(sleep 600; echo LATE >&2); echo LATE",
	xargs: "echo ready; printf '600\\n601\\n602\\n' | xargs -n1 -P2 sh -c 'sleep $0; echo LATE'; echo LATE",
	make: "echo ready; printf 'a: b\\n\\t@echo LATE\\nb:\\n\\t-@sleep 600\\n\\t@echo LATE\\n' | make -k -f -; echo LATE",
	"a child that ignores TERM": "(trap '' TERM; sleep 600; echo LATE) & echo ready; sleep 600; echo LATE",
	"an interactive shell": "echo ready; bash --norc --noprofile -i -c 'sleep 600; echo LATE' 2>/dev/null; echo LATE",
	"an interactive shell in another": `bash --norc --noprofile -i -c "bash --norc --noprofile -i -c 'echo ready; sleep 600; echo LATE'; echo LATE" 2>/dev/null; echo LATE`,
	"an interactive shell that ignores a hangup": "trap '' HUP; dash -i -c 'echo ready; sleep 600; echo LATE' 2>/dev/null; echo LATE",
	"an interactive shell that ignores a hangup, in others that do": `trap '' HUP; dash -i -c "dash -i -c \\"dash -i -c 'echo ready; sleep 600; echo LATE'; echo LATE\\"; echo LATE" 2>/dev/null; echo LATE`,
	"an interactive shell whose child ignores TERM": `bash --norc --noprofile -i -c "echo ready; (trap '' TERM; exec sleep 600); echo LATE" 2>/dev/null; echo LATE`,
	"a shell that forks": forks(0.05),
	"an interactive shell in one that forks": forks(
		0.05,
		`open STDERR, ">", "/dev/null"; exec "dash", "-i", "-c", q{(trap "" TERM; echo ready; exec sleep 600); echo LATE}`,
		"0",
	),
	"system(3)": `echo ready; perl -e 'system "sleep 600"; print "LATE\\n"'; echo LATE`,
	"children in sessions of their own": "setsid bash -c 'sleep 600; echo LATE' & echo ready; wait; echo LATE",
	"a wait for several": "sleep 600 & sleep 601 & (sleep 602; echo LATE) & echo ready; wait; echo LATE",
};

/** For a terminal, where they speak of it when a job is stopped. */
export const JOBS = `trap '' HUP; bash -m -c "bash -m -c 'echo ready; sleep 600; echo LATE'; echo LATE"; echo LATE`;

/** Forks and exits all the time: each generation lives for so many seconds, does `every`, and holds the FIFO open. */
export const chain = ({ fifo, seconds, every = "" }: { fifo: string; seconds: number; every?: string }): string =>
	`perl -e 'while (1) { $p = fork; exit if $p; ${every}; select undef, undef, undef, ${seconds} }' 9>'${fifo}' & echo ready; sleep 600`;
