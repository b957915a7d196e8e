/** The kernel of another machine, asked through whatever runs sh there. What is asked for in one turn of the event loop goes in one request. */
import type { Inode, Kernel } from "../../base/kernel.js";
import type { Stat } from "../../base/proc.js";
import { shellQuote } from "../../base/quote.js";
import { type Looks, looksBy, type Question, type Runs, SETUP } from "./questions.js";
import { farSignal, signalsBy } from "./signal.js";
import { farStats, farTable, type Tables, tableScript } from "./table.js";

export interface FarUse {
	readonly run: Runs;
	/** The same for what must not be done twice, should a link break in the middle. */
	readonly once?: Runs;
	/** Who answers many questions at once, where there is somebody quicker than a script. */
	readonly look?: Looks;
	/** Who tells of all processes, and sends signals, without starting anything for it; undefined where nobody can. */
	readonly table?: (what: "all" | "stats") => Promise<Buffer | undefined>;
	readonly signals?: (lines: readonly string[]) => Promise<string[] | undefined>;
}

const ARCHS: Readonly<Record<string, string>> = { x86_64: "x64", aarch64: "arm64", riscv64: "riscv64", loongarch64: "loong64" };

export function farKernel({ run, once = run, look = looksBy(run), table, signals }: FarUse): Kernel {
	const ask = together(look);
	const tables: Tables = async (what) => (await table?.(what)) ?? (await run(tableScript(what))).output;
	const stats = shared(() => farStats(tables));
	let arch: Promise<string> | undefined;
	return {
		arch() {
			arch ??= archOf(run);
			arch.catch(() => {
				arch = undefined; // asked again next time
			});
			return arch;
		},
		read: async (paths) => (await ask(paths.map((path) => ({ ask: "content", path })))).map((answer) => answer?.toString("utf8")),
		links: async (paths) => (await ask(paths.map((path) => ({ ask: "link", path })))).map((answer) => answer?.toString("utf8")),
		inodes: async (paths) => (await ask(paths.map((path) => ({ ask: "inode", path })))).map((answer) => answer && inodeIn(answer)),
		names: async (directories) => (await ask(directories.map((path) => ({ ask: "names", path })))).map((answer) => (answer ? namesIn(answer) : [])),
		async memory(pieces) {
			const answers = await ask(pieces.map(({ pid, address, bytes }) => ({ ask: "memory", pid, address, length: bytes })));
			return answers.map((answer, at) => (answer?.length === pieces[at]?.bytes ? answer : undefined)); // dd stops without a word where it may not go on
		},
		terminal: (path) => sttyOf(run, path),
		family: async (pid, most) => familyIn(await stats(), pid, most),
		processes: () => farTable(tables),
		signal: (sent) => farSignal(async (lines) => (await signals?.(lines)) ?? signalsBy(once, lines), sent),
	};
}

/** In a process of its own, which leads no session and so does not get this terminal by opening it. */
async function sttyOf(run: Runs, path: string): Promise<string> {
	const { output } = await run(`${SETUP}; (stty -a <${shellQuote(path)}) 2>/dev/null; :`);
	return output.toString("utf8");
}

async function archOf(run: Runs): Promise<string> {
	const machine = (await run(`${SETUP}; uname -m`)).output.toString("utf8").trim();
	return ARCHS[machine] ?? machine;
}

/** `DEV RDEV`, or as stat(1) has it, with the two halves of RDEV apart and in hex. */
function inodeIn(answer: Buffer): Inode {
	const words = answer.toString("latin1").trim().split(" ");
	const hex = (at: number) => Number.parseInt(words[at] ?? "", 16);
	// Of the two forms with more in them, the one by stat(1) has a word more.
	const split = words.length === 3 || words.length === 9;
	return { dev: Number(words[0]), rdev: split ? (hex(1) & 0xfff) * 0x100 + (hex(2) & 0xff) + (hex(2) & 0xfff00) * 0x1000 : Number(words[1]) };
}

/** find(1) has the directory in front of each. */
const namesIn = (answer: Buffer): string[] =>
	answer
		.toString("utf8")
		.split(/[\0\n]/)
		.map((name) => name.slice(name.lastIndexOf("/") + 1))
		.filter(Boolean);

function familyIn(stats: ReadonlyMap<number, Stat>, pid: number, most = Number.POSITIVE_INFINITY): Stat[] {
	const below = new Map<number, Stat[]>();
	for (const stat of stats.values()) {
		const siblings = below.get(stat.ppid);
		if (siblings) siblings.push(stat);
		else below.set(stat.ppid, [stat]);
	}
	const found: Stat[] = [];
	const queue = [stats.get(pid)];
	for (let next = queue.shift(); next !== undefined && found.length < most; next = queue.shift()) {
		found.push(next);
		queue.push(...(below.get(next.pid) ?? []));
	}
	return found;
}

/** Everybody who asks within one turn gets the same answer. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
	let pending: Promise<T> | undefined;
	return () => {
		pending ??= new Promise((resolve) => {
			setImmediate(() => {
				pending = undefined;
				resolve(ask());
			});
		});
		return pending;
	};
}

/** What several ask within one turn is asked at once. */
function together(look: Looks): Looks {
	let asked: Question[] = [];
	const flush = shared(() => {
		const questions = asked;
		asked = [];
		return look(questions);
	});
	return async (questions) => {
		if (questions.length === 0) return [];
		const from = asked.length;
		asked.push(...questions);
		return (await flush()).slice(from, from + questions.length);
	};
}
