/** Code of other languages on the command line: not understood, only looked over for what reaches out of it. */
import type { Found } from "./found.js";

const REACHES =
	/\b(?:os\.(?:system|popen|exec\w*|spawn\w*|remove|unlink|rmdir|removedirs|kill|fork)|subprocess|shutil\.(?:rmtree|move)|rmtree|child_process|exec(?:Sync|File\w*)?\s*[("'[]|spawn(?:Sync)?\s*\(|rmSync|rmdirSync|unlinkSync|fs\.(?:rm|unlink|rmdir)|promises\.(?:rm|unlink)|__import__|eval\s*\(|compile\s*\(|b64decode|fromhex|pty\.spawn|getattr\s*\(|importlib|FileUtils|File\.delete|Dir\.(?:rmdir|delete)|Deno\.(?:remove|run|Command)|Bun\.spawn|unlink|rmdir|system|qx|passthru|shell_exec|proc_open|popen|fork|execvp?e?)\b|\bPath\([^)]*\)\.(?:unlink|rmdir)|\/dev\/(?:sd|nvme|hd|vd)|`[^`]+`/;

/** More than this is not looked over, and so not taken for harmless. */
const MAX_CODE = 32 * 1024;

export function dangerousCode(names: readonly string[], code: string): boolean {
	if (code.length > MAX_CODE) return true;
	if (names.some((name) => /^[gmn]?awk$/.test(name))) return /\bsystem\s*\(|\|\s*getline|\|\s*"/.test(code);
	if (names.includes("sed")) return /^(?:\d+|\$)?\s*e\s+\w|^s(\W)(?:(?!\1)[\s\S])*\1(?:(?!\1)[\s\S])*\1[gpiI\d]*e/m.test(code);
	if (names.some((name) => /^(?:tclsh|expect|wish)/.test(name))) return /\b(?:exec|spawn|system|file\s+delete|open\s+["{]?\|)/.test(code);
	// In JavaScript and Python a backtick is no command.
	return REACHES.test(names.some((name) => /^(?:perl|ruby|php)/.test(name)) ? code : code.replace(/`/g, ""));
}

const CLIENTS = /^(?:psql|mysql|mariadb|sqlite3?|sqlcmd|mssql-cli|clickhouse(?:-client)?|cockroach|duckdb|pgcli|mycli|snowsql|bq|cqlsh|usql|sqlplus)$/;

/** SQL that takes away without saying which rows, and its like. */
export function destroysData(command: Found): boolean {
	const texts = command.args.map(({ text }) => text);
	const all = [...texts, command.input ?? ""].join("\n");
	if (command.names.some((name) => CLIENTS.test(name))) return all.length > MAX_CODE || statements(all).some(destroys);
	if (command.names.includes("dropdb") || command.names.includes("dropuser")) return true;
	if (command.names.includes("mysqladmin")) return texts.includes("drop");
	if (command.names.includes("redis-cli")) return /\bflush(?:all|db)\b/i.test(all);
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
