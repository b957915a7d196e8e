/**
 * Code of other languages on a command line (`python -c`, `node -e`, `perl -e`): whether it starts programs, deletes files or hides what it does.
 * Literals are taken out first, so that a word in a text or a pattern is only a word; constants that are joined (`"child_" + "process"`) are joined before.
 */
import { byName } from "../base/index.js";
import { is, says } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { readSed } from "./sed.js";
import { UNKNOWN } from "./word.js";

/** More than this is not looked over, and so not taken for harmless. */
export const MAX_CODE = 32 * 1024;

/** Whether text of a language that is not known reaches out of itself. */
export const reachesOut = (code: string): boolean => code.length > MAX_CODE || ANY.reaches(code);

export function dangerousCode(command: FoundCommand): boolean {
	const code = command.code ?? "";
	if (code.length > MAX_CODE) return true;
	const name = command.names.at(-1) ?? "";
	if (/^[gmn]?awk$/.test(name)) return awkRuns(code).includes(UNKNOWN);
	if (name === "sed") return readSed(command.args).script === null && SED_RUNS.test(code);
	const language = LANGUAGES.find(({ names }) => names.test(name)) ?? ANY;
	return language.reaches(code);
}

/** Matches scripts of sed that run commands. Used where a script cannot be read command by command. */
const SED_RUNS = /(?:^|[;{}/\d$!])\s*e(?:\s+\S|\s*$)|s(\W)(?:(?!\1)[\s\S])*\1(?:(?!\1)[\s\S])*\1[gpiI\d]*e/m;

/** The shell text that awk runs: `system("x")`, `"x" | getline`, `print | "x"`. UNKNOWN for what is not a constant. */
export function awkRuns(code: string): string[] {
	const text = '"((?:\\\\.|[^"\\\\])*)"';
	const runs: string[] = [];
	const constant = new RegExp(`\\bsystem\\s*\\(\\s*${text}\\s*\\)|${text}\\s*\\|&?\\s*getline|\\|&?\\s*${text}(?!\\s*[\\w"$(])`, "g");
	const rest = code.replace(constant, (_, ...found: (string | undefined)[]) => {
		runs.push((found.slice(0, 3).find((one) => one !== undefined) ?? "").replace(/\\(.)/g, "$1"));
		return " ";
	});
	const bare = rest
		.replace(new RegExp(text, "g"), "0")
		.replace(/\/(?:\\.|[^/\n\\])+\//g, "0")
		.replace(/\|\|/g, " ");
	if (/\bsystem\s*\(|\|\s*getline|\bprintf?\b[^;}\n]*\||@\w+\s*\(/.test(bare)) runs.push(UNKNOWN);
	return runs;
}

interface Language {
	readonly names: RegExp;
	reaches(code: string): boolean;
}

const STRINGS = {
	python: /(?<!\w)[rbuf]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?''')|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/g,
	js: /"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/g,
	plain: /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'/g,
};

/** Joined constants become one: `"a" + "b"`, `"a" . "b"`, `"a" "b"`. */
function fold(code: string): string {
	let text = code;
	for (let round = 0; round < 16; round++) {
		const next = text.replace(/(["'])((?:\\.|(?!\1)[^\\\n])*)\1(?:\s*[+.]\s*|\s+)(["'])((?:\\.|(?!\3)[^\\\n])*)\3/g, '"$2$4"');
		if (next === text) return text;
		text = next;
	}
	return text;
}

/** The constants of a text, and the text with `""` in their place. */
function split(code: string, strings: RegExp): { bare: string; texts: string[] } {
	const texts: string[] = [];
	const bare = code.replace(strings, (literal) => {
		texts.push(literal.replace(/^[rbuf]*(?:"""|'''|["'`])|(?:"""|'''|["'`])$/g, ""));
		return '""';
	});
	return { bare, texts };
}

const OS = "system|popen\\w*|exec[lv]\\w*|spawn\\w*|posix_spawnp?|remove|unlink|rmdir|removedirs|kill|killpg|truncate|startfile";

function python(code: string): boolean {
	const folded = fold(code);
	const { bare, texts } = split(folded, STRINGS.python);
	const said = bare.replace(/#[^\n]*/g, "");
	const modules = new Set([
		"os",
		"posix",
		...[...said.matchAll(/\bimport\s+(?:os|posix|subprocess|shutil|pty|ctypes)\s+as\s+(\w+)/g)].map((match) => match[1] as string),
	]);
	return (
		/^\s*[!%]/m.test(said) || // a line for the shell, in IPython
		/\b(?:pickle|marshal)\s*\.\s*loads\b/.test(said) ||
		[...modules].some((name) => new RegExp(`(?<![\\w.])${name}\\s*\\.\\s*(?:${OS})\\b`).test(said)) ||
		new RegExp(`\\bfrom\\s+(?:os|posix)\\s+import\\b[^\\n;]*(?:\\b(?:${OS})\\b|\\*)`).test(said) ||
		/\b(?:import|from)\s[^\n;]*\b(?:subprocess|pty|ctypes|pexpect|sh|commands|popen2|runpy)\b|\bsubprocess\s*\.|\bpty\s*\.\s*spawn/.test(said) ||
		/\bshutil\s*\.\s*(?:rmtree|move)|\bfrom\s+shutil\s+import\b[^\n;]*\b(?:rmtree|move)\b|\brmtree\s*\(/.test(said) ||
		/\bcreate_subprocess_(?:shell|exec)\b|\.\s*(?:unlink|rmdir|subprocess_shell|subprocess_exec)\s*\(/.test(said) ||
		/\b__(?:import|builtins|loader|subclasses)__\b|(?<![\w.])(?:eval|exec|execfile)\s*\(|\bsys\s*\.\s*modules\b|\b(?:globals|locals|vars)\s*\([^)]*\)\s*\[/.test(
			said,
		) ||
		/\bgetattr\s*\(\s*(?:os|posix|subprocess|shutil|builtins|__\w+)\b|\bos\s*\.\s*__dict__/.test(said) ||
		/\bimport_module\s*\(\s*(?!"")/.test(said) ||
		(/\bimport_module\s*\(/.test(said) && texts.some((text) => /^(?:os|posix|subprocess|shutil|pty|ctypes)$/.test(text))) ||
		texts.some(isDisk)
	);
}

function javascript(code: string): boolean {
	const folded = fold(code);
	const { bare, texts } = split(folded, STRINGS.js);
	const said = bare.replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, "");
	const inTemplates = texts.filter((text) => text.includes("${")).join("\n");
	return (
		texts.some((text) => /^(?:node:)?(?:child_process|worker_threads|cluster|vm|execa|shelljs|zx)$/.test(text) || isDisk(text)) ||
		/\b(?:require|import)\s*\(\s*(?!""\s*[,)])/.test(
			said.replace(/\b(?:require|import)\s*\(\s*""\s*\+/g, (all) => (texts.some((text) => /^[./]/.test(text)) ? 'require("")' : all)),
		) ||
		/\b(?:rm|rmdir|unlink|truncate|ftruncate)(?:Sync)?\s*\(|\brimraf\b|\bDeno\s*\.\s*(?:remove|run|Command|kill|dlopen)|\bBun\s*\.\s*(?:spawn\w*|\$)/.test(
			said,
		) ||
		/(?<![\w.$])eval\b|\bnew\s+Function\b|(?<![\w.])Function\s*\(|\bprocess\s*\.\s*(?:kill|binding|dlopen|mainModule|_linkedBinding|getBuiltinModule)\b|\.\s*constructor\s*(?:\.\s*constructor|\()/.test(
			said,
		) ||
		/\b(?:exec|spawn)(?:File)?Sync\s*\(|(?<![\w.$])(?:exec|spawn)\s*\(/.test(said) ||
		texts.some((text) => /^(?:eval|exec(?:File)?(?:Sync)?|spawn(?:Sync)?|rmSync|unlinkSync|rmdirSync|Function|constructor)$/.test(text)) ||
		(inTemplates !== "" && /child_process|Sync\s*\(|\beval\s*\(/.test(inTemplates))
	);
}

/** Strings, patterns and quoting of Perl and Ruby; what a replacement with `e` holds is code, and stays. */
function scripting(code: string, words: RegExp): boolean {
	if (/\bqx\b|%x[\W]|`[^`]+`/.test(code.replace(/(?<!\\)#[^\n]*$/gm, "")) && !/^\s*#/.test(code)) return true;
	if (/\(\?\??\{/.test(code)) return true; // code in a pattern
	const folded = fold(code);
	const said = folded
		.replace(/(?<=^|[\s;{(=~!,&|])s([/|#,!])((?:\\.|(?!\1)[^\\])*)\1((?:\\.|(?!\1)[^\\])*)\1([a-z]*)/g, (_all, _m, _pattern, by: string, flags: string) =>
			flags.includes("e") ? ` ${by} ` : ' "" ',
		)
		.replace(/(?<=^|[\s;{(=~!,&|])(?:m|tr|y|qr)?\/(?:\\.|[^/\\\n])*\/(?:(?:\\.|[^/\\\n])*\/)?[a-z]*/g, ' "" ')
		.replace(/\b(?:q|qq|qw|%w)\s*(?:\([^)]*\)|\{[^}]*\}|\[[^\]]*\])/g, ' "" ');
	const { bare, texts } = split(said, STRINGS.plain);
	if (/\bopen\b/.test(bare) && texts.some((text) => /^\s*\||\|\s*$|^-\||^\|-/.test(text))) return true;
	return words.test(bare) || texts.some(isDisk);
}

const CALLED = "\\s*[(\"'$@%\\[{\\w:&*\\\\<-]";
const PERL = new RegExp(
	`(?<![\\w$@%>&-])(?:system|exec|unlink|rmdir|kill|truncate|syscall|rmtree|remove_tree|dofile)${CALLED}|(?<![\\w$@%>])eval\\s*(?!\\{)[("'$\\w]|\\b(?:unlink|system|exec)\\s*[;}]|\\b(?:IPC::|POSIX::|File::Path|CORE::)|&\\{|->\\(|\\bopen\\b[^;]*"-?\\|`,
);
const RUBY =
	/(?<![\w.$@:])(?:system|exec|spawn|eval|syscall)(?:\s*[("'%[:\w*]|\s*$)|\b(?:Kernel|Open3|PTY|FileUtils)\b|\bIO\s*\.\s*popen|\b(?:File|Pathname\S*|Dir)\s*\.?\S*\.\s*(?:delete|unlink|rmdir|rmtree|truncate)|\bFile\.(?:delete|unlink|truncate)|\bDir\.(?:rmdir|delete|unlink)|\bProcess\.(?:kill|spawn|exec)|\.(?:send|public_send|__send__|method|instance_eval|class_eval)\b|\.(?:rmtree|unlink)\b/;
const PHP =
	/(?<![\w>:$])(?:system|exec|passthru|shell_exec|proc_open|popen|pcntl_exec|unlink|rmdir|eval|assert|create_function|call_user_func(?:_array)?|posix_kill|dl)\s*\(|\$\w+\s*\(|`/;

const LANGUAGES: readonly Language[] = [
	{ names: /^(?:i?python|bpython|pypy)/, reaches: python },
	{ names: /^(?:node|nodejs|bun|deno|tsx|ts-node)$/, reaches: javascript },
	{ names: /^perl/, reaches: (code) => scripting(code, PERL) },
	{ names: /^ruby/, reaches: (code) => scripting(code, RUBY) },
	{
		names: /^php/,
		reaches: (code) =>
			PHP.test(split(fold(code), STRINGS.plain).bare) ||
			split(code, STRINGS.plain).texts.some((text) => /^(?:system|exec|passthru|shell_exec|eval|unlink|rmdir|popen|proc_open)$/.test(text)),
	},
	{
		names: /^lua/,
		reaches: (code) =>
			/\bos\s*\.\s*(?:execute|remove|rename|exit\s*\(\s*os)|\bio\s*\.\s*popen|\b(?:loadstring|load|dofile|loadfile)\s*\(|\b(?:os|io)\s*\[/.test(
				split(code, STRINGS.plain).bare,
			),
	},
	{
		names: /^R(?:script)?$/,
		reaches: (code) => /\b(?:system2?|shell|unlink|file\.remove|pipe)\s*\(|\beval\s*\(\s*parse|\bsource\s*\(\s*["']https?:/.test(code),
	},
	{ names: /^julia$/, reaches: (code) => /\brun\s*\(|\brm\s*\(|`|\beval\s*\(/.test(split(code, STRINGS.plain).bare) },
	{ names: /^osascript$/, reaches: (code) => /do\s+shell\s+script|\bdelete\b|System Events/i.test(code) },
	{ names: /^(?:tclsh|expect|wish)/, reaches: (code) => /\b(?:exec|spawn|system|file\s+delete|open\s+["{]?\|)/.test(code) },
];

/** A language that is not known: its words, wherever they stand. */
const ANY: Language = {
	names: /^/,
	reaches: (code) =>
		/\b(?:system|exec\w*|spawn\w*|popen|unlink|rmdir|remove|eval|subprocess|child_process|rm_rf|rmtree|shell-command|call-process|start-process|delete-file|delete-directory|getRuntime|ProcessBuilder|Remove-Item|Invoke-Expression|iex|Start-Process|RemoveAll|remove_dir_all|remove_file|System\.cmd|cmd|Process(?=\s*\(|\.system)|run-program)\b|`[^`]+`/.test(
			code,
		),
};

const isDisk = (text: string): boolean => /^\/dev\/(?:sd|nvme|hd|vd|mmcblk|mapper)/.test(text);

const CLIENTS = /^(?:psql|mysql|mariadb|sqlite3?|sqlcmd|mssql-cli|clickhouse(?:-client)?|cockroach|duckdb|pgcli|mycli|snowsql|bq|cqlsh|usql|sqlplus)$/;

/** Programs that empty a database or a store when they are told to. */
const RESETS = byName<RegExp>({
	prisma: /^(?:migrate reset|db push .*--force-reset)\b/,
	supabase: /^db reset\b/,
	rails: /^db:(?:drop|reset|purge)\b|^db:migrate:reset\b|^db:schema:load\b/,
	rake: /^db:(?:drop|reset|purge)\b|^db:migrate:reset\b|^db:schema:load\b/,
	php: /^artisan (?:migrate:(?:fresh|reset|refresh)|db:wipe)\b/,
	sequelize: /^db:drop\b/,
	"sequelize-cli": /^db:drop\b/,
	rabbitmqctl: /^(?:reset|force_reset|delete_vhost|purge_queue|delete_queue)\b/,
	nats: /^stream (?:rm|purge)\b/,
	vault: /^kv (?:delete|destroy|metadata delete)\b/,
});

/** SQL that takes away without saying which rows, and its like. */
export function destroysData(command: FoundCommand): boolean {
	const texts = command.args.map(({ text }) => text);
	const all = [...texts, command.input ?? ""].join("\n");
	if (/\bpg_terminate_backend\b/i.test(all) && is(command, "psql")) return true;
	if (command.names.some((name) => CLIENTS.test(name))) return all.length > MAX_CODE || statements(all).some(destroys);
	if (is(command, "dropdb", "dropuser")) return true;
	if (is(command, "mysqladmin")) return texts.includes("drop");
	if (command.names.some((name) => RESETS[name] !== undefined && says(command, RESETS[name]))) return true;
	if (is(command, "python", "python3")) return /(?:^|\/)manage\.py$/.test(texts[0] ?? "") && /^(?:flush|reset_db|sqlflush)$/.test(texts[1] ?? "");
	if (is(command, "etcdctl")) return texts.includes("del") && texts.some((text) => /^--(?:prefix|from-key)\b/.test(text));
	if (is(command, "consul")) return says(command, /^kv delete\b/) && texts.includes("-recurse");
	if (command.names.some((name) => /^kafka-topics(?:\.sh)?$/.test(name))) return texts.includes("--delete");
	if (is(command, "redis-cli")) return /\bflush(?:all|db)\b/i.test(all);
	if (command.names.some((name) => /^mongo(?:sh)?$/.test(name))) return /dropDatabase|\.drop\s*\(|deleteMany\s*\(\s*\{?\s*\}?\s*\)/.test(all);
	return false;
}

const statements = (sql: string): string[] =>
	sql
		.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, " ")
		.replace(/'(?:[^']|'')*'/g, "''")
		.split(/[;\n](?=\s*(?:drop|delete|truncate|update|alter|select|insert|create|begin|commit|with|-|$))/i);

function destroys(statement: string): boolean {
	if (
		/\b(?:drop\s+(?:table|database|schema|view|index|role|user|owned|keyspace|column|collection)|truncate\s+(?:table\s+)?\w|alter\s+table\b[\s\S]*\bdrop\b)/i.test(
			statement,
		)
	)
		return true;
	return (/\bdelete\s+from\b/i.test(statement) || /\bupdate\s+\S+\s+set\b/i.test(statement)) && !/\bwhere\b/i.test(statement);
}
