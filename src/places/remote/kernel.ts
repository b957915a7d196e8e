/** The kernel of a remote machine, asked over its link. Questions of one turn of the event loop go in one request. */
import { type Inode, type Kernel, type Stat, shellQuote } from "../../base/index.js";
import { type Link, type LinkQuestion, parseInode } from "../link/index.js";
import { RUN_BYTES } from "./reach.js";
import { type Runs, SETUP } from "./script.js";
import { remoteSignal, signalsBy } from "./signal.js";
import { remoteStats, remoteTable, type Tables, tableScript } from "./table.js";

/** Runs work over the link. `again`: the work is idempotent and may be repeated after a broken link. */
export type Asks = <T>(work: (link: Link) => Promise<T>, how: { readonly again: boolean }) => Promise<T>;
type Looks = (questions: readonly LinkQuestion[]) => Promise<(Buffer | undefined)[]>;

const ARCHS: Readonly<Record<string, string>> = { x86_64: "x64", aarch64: "arm64", riscv64: "riscv64", loongarch64: "loong64" };

export function remoteKernel(ask: Asks): Kernel {
	const run: Runs = (script) => ask((link) => link.run(script, { limit: RUN_BYTES }), { again: true });
	const once: Runs = (script) => ask((link) => link.run(script, { limit: RUN_BYTES }), { again: false });
	const look = together((questions) => ask((link) => link.look(questions), { again: true }));
	const tables: Tables = async (what) => (await ask((link) => link.table(what), { again: true })) ?? (await run(tableScript(what))).output;
	const stats = shared(() => remoteStats(tables));
	let arch: Promise<string> | undefined;
	return {
		arch() {
			arch ??= archOf(run);
			arch.catch(() => {
				arch = undefined; // asked again next time
			});
			return arch;
		},
		read: async (paths) => (await look(paths.map((path) => ({ ask: "content", path })))).map((answer) => answer?.toString("utf8")),
		links: async (paths) => (await look(paths.map((path) => ({ ask: "link", path })))).map((answer) => answer?.toString("utf8")),
		inodes: async (paths) => (await look(paths.map((path) => ({ ask: "inode", path })))).map((answer) => answer && inodeIn(answer)),
		names: async (directories) => (await look(directories.map((path) => ({ ask: "names", path })))).map((answer) => (answer ? namesIn(answer) : [])),
		async memory(pieces) {
			const answers = await look(pieces.map(({ pid, address, bytes }) => ({ ask: "memory", pid, address, length: bytes })));
			return answers.map((answer, at) => (answer?.length === pieces[at]?.bytes ? answer : undefined)); // dd stops silently at memory that it may not read
		},
		terminal: (path) => sttyOf(run, path),
		family: async (pid, most) => familyIn(await stats(), pid, most),
		processes: () => remoteTable(tables),
		signal: (sent) => remoteSignal(async (lines) => (await ask((link) => link.signals(lines), { again: false })) ?? signalsBy(once, lines), sent),
	};
}

/** Runs stty in a process that leads no session, and so does not get this terminal as its own by opening it. */
async function sttyOf(run: Runs, path: string): Promise<string> {
	const { output } = await run(`${SETUP}; (stty -a <${shellQuote(path)}) 2>/dev/null; :`);
	return output.toString("utf8");
}

async function archOf(run: Runs): Promise<string> {
	const machine = (await run(`${SETUP}; uname -m`)).output.toString("utf8").trim();
	return ARCHS[machine] ?? machine;
}

function inodeIn(answer: Buffer): Inode {
	const { dev, rdev } = parseInode(answer);
	return { dev, rdev };
}

/** Parses names; find(1) prefixes each with the directory. */
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

/** Callers within one turn of the event loop share one answer. */
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

/** Questions of one turn of the event loop are sent as one request. */
function together(look: Looks): Looks {
	let asked: LinkQuestion[] = [];
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
