/** Files that a tool runs without being told: written and used in one text, they are part of it. */
import { awkRuns, reachesOut } from "./code.js";
import type { FoundCommand } from "./found.js";
import type { Inner } from "./inner.js";
import { after, scripts } from "./inner.js";
import { readSed } from "./sed.js";
import { UNKNOWN, word } from "./word.js";

const TOOLS: readonly (readonly [program: RegExp, files: RegExp])[] = [
	[/^(?:g?make|ninja)$/, /^(?:GNUm|M|m)akefile$|\.mk$|^build\.ninja$/],
	[/^(?:npm|pnpm|yarn|bun)$/, /^package\.json$/],
	[/^(?:npx|jest|vitest|mocha|eslint|webpack|vite|rollup)$/, /\.config\.[cm]?[jt]s$|^\.eslintrc\.c?js$/],
	[/^(?:pytest|tox|nox)$/, /\.py$/],
	[/^(?:pip3?|uv|poetry)$/, /^setup\.py$/],
	[/^(?:cargo|rustc)$/, /\.rs$/],
	[/^go$/, /\.go$/],
	[/^direnv$/, /^\.envrc$/],
	[/^(?:just|task)$/, /^(?:justfile|Taskfile\.ya?ml)$/i],
	[/^(?:docker|podman|docker-compose)$/, /^(?:docker-)?compose\.ya?ml$/],
];

/** `files` are those that the same text has written, with what is in them. */
export function implicitlyRuns(command: FoundCommand, files: ReadonlyMap<string, string>): Inner[] {
	const name = command.names.at(-1) ?? "";
	const base = (file: string) => file.slice(file.lastIndexOf("/") + 1);
	const given = after(command.args, /^(?:-f|-x|-S|--file|--command)$/).map(base);
	return [...files].flatMap(([file, text]): Inner[] => {
		const own = base(file);
		if (TOOLS.some(([program, pattern]) => program.test(name) && pattern.test(own))) return inFile(own, text);
		return given.includes(own) ? asScriptOf(name, text) : [];
	});
}

function inFile(file: string, text: string): Inner[] {
	if (text.includes(UNKNOWN)) return ["unknown-script"];
	if (/akefile$|\.mk$/i.test(file))
		return scripts(
			[...text.matchAll(/^(?:\t|[^\n#=]*:[^\n=]*;)[-@+]*(.+)$/gm)].map((match) => (match[1] ?? "").replace(/\$[({](\w+)[)}]/g, "$$$1").replaceAll("$$", "$")),
		);
	if (file === "package.json")
		return scripts([...text.matchAll(/"[\w:-]+"\s*:\s*"((?:\\.|[^"\\])*)"/g)].map((match) => (match[1] ?? "").replace(/\\(.)/g, "$1")));
	if (file === ".envrc" || file === "justfile") return scripts([text]);
	if (/compose/.test(file))
		return /(?:^|["'\s-])(?:\/(?:[^:"'\n]*\/)?(?:home|root)\b|\/etc\b|\/var\/run\/docker|~|\$\{?HOME)[^:"'\n]*:/m.test(text) ? ["unknown-script"] : [];
	return reachesOut(text) ? ["unknown-script"] : [];
}

/** Programs whose option names a file of commands. With most others it does not: `tail -f`, `rm -f`, `test -f`, `tar -f`. */
const READS_COMMANDS =
	/^(?:[gmn]?awk|sed|gdb|lldb|psql|mysql|mariadb|sqlite3|vim|vi|nvim|ex|g?make|ninja|just|task|tmux|screen|expect|tclsh|wish|gnuplot|bpftrace|stap|gforth|docker|podman|docker-compose)$/;

/** A file of commands that a program is given by an option. */
function asScriptOf(name: string, text: string): Inner[] {
	if (!READS_COMMANDS.test(name)) return [];
	if (text.includes(UNKNOWN)) return ["unknown-script"];
	if (/^[gmn]?awk$/.test(name)) return awkRuns(text).map((script): Inner => (script === UNKNOWN ? "unknown-script" : { script }));
	if (name === "sed")
		return (readSed([word(text)]).script?.runs ?? [UNKNOWN]).map((script): Inner => (script.includes(UNKNOWN) ? "unknown-script" : { script }));
	if (/^(?:gdb|psql|mysql|sqlite3|vim|vi|nvim|ex)$/.test(name))
		return /^\s*(?:\\?!|\.?(?:shell|system)\b)|\bsystem\s*\(|\bprogram\s+'/m.test(text) ? ["unknown-script"] : [];
	return [];
}
