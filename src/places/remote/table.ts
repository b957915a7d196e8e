/** Reads the table of all remote processes in one request: exactly what a kill has to know of them. */
import { HoldfastError, isLiving, markerIn, parseStat, type Stat, type Table } from "../../base/index.js";
import { SETUP } from "./script.js";

/**
 * NUL-terminated records, by their first letter: `s` a stat; `e PID` the variable that marks it; `f PID` the target of its stdin, stdout or stderr,
 * if that is one of ours; `n PID` its namespace; `k PID` it is a keeper, by its arguments and its directory; `u` uptime;
 * `o` our own remote namespace. link.pl prints these. Without perl these scripts do, with all stats in one `g`, each line after the name of its file,
 * and
 * all links in one `l`, as `ls` prints them.
 *
 * They run one tool for all processes, not one for each, except where grep ends at the first NUL; few processes need that closer
 * look. A newline in a process's name or open file must not begin a line.
 */
const STATS = `printf g; grep -as -H '' /proc/[0-9]*/stat; printf '\\0'`;
const REST = `
q=; ls -dq / >/dev/null 2>&1 && q=q
printf l; ls -ld$q /proc/[0-9]*/fd/[012] /proc/[0-9]*/ns/uts 2>/dev/null; printf '\\0'
z=; printf 'a\\0b' | grep -aq b && z=1
with() {
	if [ "$z" ]; then grep -las "$1" /proc/[0-9]*/$2
	else for f in /proc/[0-9]*/$2; do tr '\\0' '\\n' <$f | grep -aq "$1" && echo $f; done 2>/dev/null
	fi
}
for f in $(with HOLDFAST_ID=proc_ environ); do
	p=\${f#/proc/}; printf 'e%s ' "\${p%%/*}"; { tr '\\n\\0' ' \\n' <$f | grep -a '^HOLDFAST_ID='; } 2>/dev/null; printf '\\0'
done
for f in $(with '/keeper/keeper[.]sh' cmdline); do
	p=\${f#/proc/}; p=\${p%%/*}
	d=$(tr '\\n\\0' ' \\n' <$f 2>/dev/null | { while IFS= read -r w; do case $w in */keeper/keeper.sh) read -r w; [ "$w" = keep ] && IFS= read -r w && printf %s "$w"; break;; esac; done; })
	read -r w 2>/dev/null <"/proc/$p/stat" || continue
	set -f; set -- \${w##*) }; set +f
	[ -n "$d" ] && [ -n "\${20}" ] && grep -qsx "keeper $p \${20}" "$d/meta" && printf 'k%s \\0' "$p"
done`;

/** Returns those records for all processes, or their stats alone. */
export type Tables = (what: "all" | "stats") => Promise<Buffer>;

export const tableScript = (what: "all" | "stats"): string => (what === "all" ? allScript : statsScript);

const statsScript = `${SETUP}; ${STATS}`;
const allScript = `${SETUP}; printf 'o%s\\0' "$(readlink /proc/self/ns/uts)"; read -r x _ </proc/uptime
printf 'u%s\\0' "$x"
${STATS}; ${REST}`;

/** Returns all stats, including those of zombies. */
export const remoteStats = async (tables: Tables): Promise<Map<number, Stat>> => statsIn(recordsIn(await tables("stats")));

export async function remoteTable(tables: Tables): Promise<Table> {
	const found = recordsIn(await tables("all"));
	const now = Date.now();
	const stats = new Map([...statsIn(found)].filter(([, stat]) => isLiving(stat)));
	const markers = new Map<number, string | undefined>();
	const standard = new Map<number, string[]>();
	const keepers = new Set<number>();
	const namespaces = new Map<number, string>();
	for (const [kind, text] of found) {
		if (kind === "l") readLinks(text, standard, namespaces);
		if (!/^[efnk]$/.test(kind)) continue;
		const pid = Number.parseInt(text, 10);
		const value = text.slice(text.indexOf(" ") + 1);
		if (kind === "e") markers.set(pid, markerIn(value.split("\n")[0] ?? ""));
		else if (kind === "f") standard.set(pid, [...(standard.get(pid) ?? []), value]);
		else if (kind === "n") namespaces.set(pid, value);
		else keepers.add(pid);
	}
	const own = one(found, "o");
	const uptime = Number(one(found, "u")) * 100;
	return {
		stats,
		self: undefined,
		statOf: (pid) => stats.get(pid),
		ticksAt: (time) => Math.floor(uptime - (now - time) / 10),
		markerOf: (pid) => markers.get(pid),
		standardOf: (pid) => standard.get(pid) ?? [],
		isKeeper: (pid) => keepers.has(pid),
		namespaceOf: (pid) => (namespaces.get(pid) === own ? null : namespaces.get(pid)),
	};
}

type Records = readonly (readonly [kind: string, text: string])[];

function recordsIn(output: Buffer): Records {
	const texts = output.toString("utf8").split("\0").slice(0, -1);
	return texts.map((text) => [text.charAt(0), text.slice(1)] as const);
}

const one = (found: Records, kind: string): string => found.find(([own]) => own === kind)?.[1] ?? "";

function statsIn(found: Records): Map<number, Stat> {
	const texts = new Map<string, string>(); // by the file: a name may have a newline in it, and then there are two lines
	for (const [kind, text] of found) {
		if (kind === "s") texts.set(text, text);
		if (kind !== "g") continue;
		for (const line of text.split("\n")) {
			const [, file, rest = ""] = /^(\/proc\/\d+\/stat):(.*)$/s.exec(line) ?? [];
			if (file) texts.set(file, texts.has(file) ? `${texts.get(file)}\n${rest}` : rest);
		}
	}
	const stats = [...texts.values()].map((text) => parseStat(text)).filter((stat) => stat !== undefined);
	// A kill would take an empty answer for its success.
	if (stats.length === 0)
		throw new HoldfastError(
			"UNSUPPORTED",
			"the processes of that machine cannot be seen: it has no /proc, or neither perl nor grep; install one of them there",
		);
	return new Map(stats.map((stat) => [stat.pid, stat]));
}

function readLinks(text: string, standard: Map<number, string[]>, namespaces: Map<number, string>): void {
	for (const line of text.split("\n")) {
		const [, pid, what, to = ""] = /^l.* \/proc\/(\d+)\/(fd\/[012]|ns\/uts) -> (.*)$/.exec(line) ?? [];
		if (what === "ns/uts") namespaces.set(Number(pid), to);
		else if (what) standard.set(Number(pid), [...(standard.get(Number(pid)) ?? []), to]);
	}
}
