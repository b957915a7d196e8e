/** Trees of processes that a kill has to find. Each command prints the pids it started: how many, and how. */
export const TREES: [name: string, count: number, command: string][] = [
	["a shell with children", 2, "sleep 601 & echo $!; sleep 602 & echo $!; wait"],
	["children that ignore TERM", 2, "trap '' TERM; for i in 1 2; do (trap '' TERM; echo $BASHPID; while :; do sleep 617; done) & done; wait"],
	["children in sessions of their own", 2, "setsid bash -c 'echo $$; sleep 603 & echo $!; wait' & wait"],
	["a double fork into a new session", 1, "(setsid bash -c 'echo $$; exec sleep 604' &) ; sleep 605"],
	["a stopped child", 1, "sleep 606 & kill -STOP $!; echo $!; wait"],
	["one that closed its descriptors", 1, "(setsid bash -c 'echo $$; exec sleep 607 >/dev/null 2>&1 </dev/null' &); sleep 608"],
	["one that calls itself a keeper", 1, "(setsid bash -c 'echo $$; sleep 615; :' /x/keeper/keeper.sh keep /tmp &) ; sleep 616"],
];

export const pidsIn = (text: string): number[] => [...text.matchAll(/^(\d+)$/gm)].map((match) => Number(match[1]));
