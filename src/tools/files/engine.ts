/** Builds the search commands for a place: ripgrep, or any grep with find. */
import { HoldfastError } from "../../base/index.js";
import type { Files } from "../../places/files/index.js";
import type { SearchFilesArgs } from "./input.js";
import type { Script } from "./search.js";

export interface Pattern {
	readonly pattern: string;
	readonly fixed: boolean;
	readonly ignoreCase: boolean;
}

interface Which {
	readonly hidden: boolean;
	/** Lists of patterns for the last part of a path, which must match one pattern of each list. */
	readonly last: readonly (readonly string[] | undefined)[];
}

export interface SearchEngine {
	readonly name: string;
	notes(args: SearchFilesArgs): string[];
	/** Throws if the pattern is not usable. */
	check(pattern: Pattern): Promise<void>;
	/** Returns a script that prints lines of names, or of `TIME NAME`, newest first. */
	names(which: Which): Script;
	/** Returns a script that prints lines `NAME:COUNT`. */
	counts(which: Which & Pattern & { only: string | undefined }): Script;
	/**
	 * Returns a script that takes pairs of arguments (a name, a number of matches) and prints for each the mark, then lines `NUMBER:TEXT` and
	 * `NUMBER-CONTEXT`.
	 */
	matches(how: Pattern & { context: number; mark: string }): Script;
}

const PROBE = `if command -v rg >/dev/null 2>&1; then echo rg; exit; fi
command -v find >/dev/null 2>&1 && echo x | grep x >/dev/null 2>&1 && printf G
echo x | grep -P x >/dev/null 2>&1 && printf P
printf 'x\\000\\n' | grep -I x >/dev/null 2>&1 || printf I
echo`; // busybox accepts -I and ignores it
const known = new WeakMap<Files, Promise<SearchEngine>>();

export function engineOf(files: Files, signal?: AbortSignal): Promise<SearchEngine> {
	const found = known.get(files) ?? probe(files, signal);
	known.set(files, found);
	found.catch(() => known.delete(files));
	return found;
}

async function probe(files: Files, signal: AbortSignal | undefined): Promise<SearchEngine> {
	const { output } = await files.run(PROBE, [], signal ? { signal } : {});
	const words = output.toString().trim();
	if (words !== "rg" && !words.includes("G"))
		throw new HoldfastError(
			"UNSUPPORTED",
			"nothing can be searched there: there is no ripgrep (rg), and not both grep and find; install one of them, or read files with read_file",
		);
	return words === "rg" ? ripgrep(files) : grep(files, { perl: words.includes("P"), skips: words.includes("I") });
}

const CUT = "LC_ALL=C cut -b 1-4000";

function ripgrep(files: Files): SearchEngine {
	const flags = ({ fixed, ignoreCase }: Omit<Pattern, "pattern">) => [...(fixed ? ["-F"] : []), ...(ignoreCase ? ["-i"] : [])];
	// Unlike a glob, a type does not include hidden or ignored files again.
	const types = ({ hidden, last }: Which) => [
		...(hidden ? ["--hidden", "--no-ignore"] : []),
		...last.flatMap((globs) => globs ?? []).flatMap((glob) => ["--type-add", `holdfast:${glob}`]),
		...(last.some((globs) => globs) ? ["-t", "holdfast"] : []),
	];
	return {
		name: "ripgrep",
		notes: () => [],
		check: async ({ pattern, ...how }) => {
			const { status, output } = await files.run('exec 2>&1; rg --no-config "$@" </dev/null', [...flags(how), "-e", pattern, "-"]);
			if (status === 2) throw unusable(pattern, output.toString());
		},
		names: (which) => ({ text: 'rg --no-config --files --sortr modified "$@" .', args: types(which) }),
		counts: ({ pattern, only, ...how }) => ({
			text: 'rg --no-config -c -H --no-messages --color never "$@"',
			args: [...flags(how), ...types(only === undefined ? how : { ...how, hidden: true }), "-e", pattern, "--", only === undefined ? "." : `./${only}`],
		}),
		matches: ({ pattern, context, mark, ...how }) =>
			each(mark, 'rg --no-config -n -I --no-heading --color never -m "$m"', [...flags(how), "-C", String(context), "-e", pattern, "--"]),
	};
}

/** Returns a script whose first arguments are for the program; the rest are pairs of a name and a number. */
function each(mark: string, program: string, args: readonly string[]): Script {
	const count = args.length;
	const quoted = Array.from({ length: count }, (_, at) => `a${at + 1}`);
	const take = quoted.map((name) => `${name}=$1; shift`).join("; ");
	const given = quoted.map((name) => `"$${name}"`).join(" ");
	return { text: `${take}\nwhile [ $# -ge 2 ]; do f=$1 m=$2; shift 2; echo '${mark}'; ${program} ${given} "$f" 2>/dev/null | ${CUT}; done`, args };
}

function grep(files: Files, { perl, skips }: { perl: boolean; skips: boolean }): SearchEngine {
	const flags = ({ fixed, ignoreCase }: Omit<Pattern, "pattern">) => [
		fixed ? "-F" : perl ? "-P" : "-E",
		...(ignoreCase ? ["-i"] : []),
		...(skips ? ["-I"] : []),
	];
	const text = ({ pattern, fixed }: Pattern) => (fixed || perl ? pattern : extended(pattern));
	const tests = ({ hidden, last }: Which) => [
		...(hidden ? [] : ["!", "-path", "*/.*"]),
		...["!", "-path", "*\n*"],
		...last.flatMap((globs) => (globs ? ["(", ...globs.flatMap((glob, at) => [...(at > 0 ? ["-o"] : []), "-name", glob]), ")"] : [])),
	];
	const prune = (hidden: boolean) => (hidden ? [] : ["(", "-name", ".?*", "-prune", ")", "-o"]);
	return {
		name: `${perl ? "grep -P" : "grep -E"} and find`,
		notes: ({ hidden, target, fixed }) => [
			...(hidden ? [] : ["There is no ripgrep there: hidden files were left out, but .gitignore was not heeded."]),
			...(target === "names" || fixed || perl
				? []
				: ["The pattern was taken as an extended regular expression (grep -E): \\d, \\s and (?:…) were translated, lookaround does not exist."]),
		],
		check: async (pattern) => {
			const { status, output } = await files.run('exec 2>&1; echo | grep "$@"', [...flags(pattern), "-e", text(pattern)]);
			if (status > 1) throw unusable(pattern.pattern, output.toString());
		},
		names: (which) => ({
			text: `find . "$@" -type f -exec stat -c '%Y %n' {} + | sort -rn`,
			args: [...prune(which.hidden), ...tests(which)],
		}),
		counts: ({ only, ...how }) => {
			const options = [...flags(how), "-e", text(how)];
			const binary = skips ? "" : ` | while IFS= read -r l; do [ "$(head -c 8192 <"\${l%:*}" | tr -dc '\\000' | wc -c)" -gt 0 ] || printf '%s\\n' "$l"; done`;
			if (only !== undefined) return { text: `grep -H -c "$@"${binary}`, args: [...options, "--", `./${only}`] };
			return {
				text: `find . "$@" | grep -v ':0$'${binary}`,
				args: [...prune(how.hidden), ...tests(how), "-type", "f", "-exec", "grep", "-H", "-c", ...options, "--", "{}", "+"],
			};
		},
		matches: ({ context, mark, ...how }) => each(mark, 'grep -n -h -m "$m"', [...flags(how), "-C", String(context), "-e", text(how), "--"]),
	};
}

/** Returns a pattern in the syntax of grep -E. */
const extended = (pattern: string): string =>
	pattern.replace(/\\(?:([dDsS])|[\s\S])|\(\?:/g, (all, letter: string | undefined) => {
		if (all === "(?:") return "(";
		return { d: "[0-9]", D: "[^0-9]", s: "[[:space:]]", S: "[^[:space:]]" }[letter ?? ""] ?? all;
	});

const unusable = (pattern: string, words: string): HoldfastError =>
	new HoldfastError(
		"INVALID",
		`the pattern ${JSON.stringify(pattern.slice(0, 100))} is not a regular expression that can be used there: ${words.trim().replace(/\s+/g, " ").slice(0, 300)}; for plain text say fixed=true`,
	);
