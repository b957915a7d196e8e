/**
 * Lines for remote shells. Each takes effect once, however often it has to be sent: the directory `sent.NAME` beside the shell's FIFO records
 * its arrival. docs/link.md.
 */
import { HoldfastError, type Identity, shellQuote } from "../../base/index.js";
import type { Once, Placed } from "../line.js";
import type { Link } from "../link/index.js";
import { INLINE, putLine, type RemoteProcessFiles } from "./process-files.js";
import type { Reach } from "./reach.js";
import { busyIn, directoryIn } from "./ready.js";
import { leaveRemoved } from "./removed.js";

/** A line to a remote shell, with all that is sent along with it. */
export interface ShellCommand extends Omit<Once, "placed"> {
	readonly placed: readonly Placed[];
	readonly bash: Identity;
}

const AT_ONCE = 4096; // PIPE_BUF
/** Removes the marks of ended programs: their resends happened long ago. As in link.pl. */
const OLD_MARKS = "find . -maxdepth 1 -name 'sent.*' -mmin +10 -exec rm -rf {} + 2>/dev/null";

export class Commands {
	readonly #reach: Reach;
	readonly #files: RemoteProcessFiles;
	readonly #container: boolean;
	/** The last line that each shell has certainly received: it is never sent again. */
	readonly #told = new Map<string, string>();

	constructor(reach: Reach, files: RemoteProcessFiles, { container }: { container: boolean }) {
		this.#reach = reach;
		this.#files = files;
		this.#container = container;
	}

	/** Sends a line. Resolves with where the shell went instead, if its directory has been removed. */
	async tell(id: string, text: string, once: ShellCommand): Promise<string | undefined> {
		if (once.farewell) return this.#reach.deadlines.afterwards(() => this.#farewell(id, text, once.name));
		const way = { tried: false, remade: false };
		try {
			return await this.#tell(id, text, once, way);
		} catch (error) {
			if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE" || way.remade) throw error;
			if (!way.tried) throw new HoldfastError("START_FAILED", `nothing ran: ${error.message}`, { cause: error });
			throw new HoldfastError("UNREACHABLE", `the link broke while the command was sent, so it is not known whether it has started: ${error.message}`, {
				cause: error,
			});
		}
	}

	forget(id: string): void {
		this.#told.delete(id);
	}

	async #farewell(id: string, text: string, name: string): Promise<undefined> {
		await this.#reach.quietly(async (link) => {
			const at = directoryIn(await this.#reach.prepare(link), id);
			await link.run(`cd ${shellQuote(at)} && mkdir sent.${name} 2>/dev/null && printf %s ${shellQuote(text)} 1<>in`);
		});
	}

	async #tell(id: string, text: string, once: ShellCommand, way: { tried: boolean; remade: boolean }): Promise<string | undefined> {
		const { name } = this.#reach;
		await this.#reach.ready();
		if (once.life !== undefined && once.life !== this.#reach.life) throw new HoldfastError("ENDED", `nothing ran: ${name} is not what it was`);
		let tries = 0;
		const trying = <T>(work: (link: Link) => Promise<T>): Promise<T> => {
			tries = 0;
			return this.#reach.use((link) => {
				tries++;
				way.tried = true;
				return work(link);
			});
		};
		const gone = () => {
			way.remade = tries > 1;
			return tries > 1
				? new HoldfastError("UNREACHABLE", `it is not known whether it ran: ${name} was made again, or lost its files, while the shell was being told`)
				: new HoldfastError("ENDED", `nothing ran: the shell's directory on ${name} is gone`);
		};
		const answer = await trying((link) => this.#quickly(link, id, text, once));
		if (answer === "gone") throw gone();
		if (answer === "told" || answer === "had") {
			this.#told.set(id, once.name);
			return undefined;
		}
		for (const { id: whose, name: file, content } of once.placed)
			if (content.length > INLINE) await this.#files.write(`${this.#reach.directoryOf(whose)}/${file}`, Buffer.from(content));
		const script = this.#scriptFor(id, text, once);
		const { status, error, output } = await trying((link) => link.run(script));
		if (status === 9) throw gone();
		if (status !== 0) throw new HoldfastError("START_FAILED", `nothing ran: the shell on ${name} could not be told (${error || `status ${status}`})`);
		this.#told.set(id, once.name);
		return output.length > 0 ? output.toString("utf8") : undefined;
	}

	/** Exits with 9 if a directory that it needs is gone. */
	#scriptFor(id: string, text: string, once: ShellCommand): string {
		const at = (whose: string) => this.#reach.directoryOf(whose);
		const needed = [id, ...once.placed.map((file) => file.id)].map((one) => `cd ${shellQuote(at(one))} || exit 9`).reverse();
		const puts = once.placed.filter(({ content }) => content.length <= INLINE).map((file) => putLine(at(file.id), file));
		const moved = `sent.${once.name}/moved`;
		const done = this.#told.get(id);
		return [
			...needed,
			`[ -d sent.${once.name} ] && { [ ! -e ${moved} ] || cat ${moved}; exit 0; }`,
			`[ -L sent.${once.name} ] && exit 0`, // withdrawn
			done === undefined ? OLD_MARKS : `rm -rf sent.${done}`,
			"umask 077",
			...puts,
			`mkdir sent.${once.name} 2>/dev/null || exit 0`,
			...this.#marksOf(id, once).map(({ path, line }) => `echo ${shellQuote(line)} >${shellQuote(path)}`),
			...(once.from ? [leaveRemoved(once.from, moved)] : []),
			`printf %s ${shellQuote(text)} 1<>in`,
		].join("\n");
	}

	/** Does the same without a remote process, in the usual case. Returns undefined if it takes a script. */
	async #quickly(link: Link, id: string, text: string, { name, placed, from, bash }: ShellCommand): Promise<"told" | "had" | "gone" | undefined> {
		if (link.facts.helper !== "perl" || Buffer.byteLength(text) > AT_ONCE || placed.some(({ content }) => content.length > INLINE)) return undefined;
		const at = (whose: string) => this.#reach.directoryOf(whose);
		const files = [
			...placed.map((file) => ({ path: `${at(file.id)}/${file.name}`, content: file.content, whole: false })),
			...this.#marksOf(id, { bash, placed }).map(({ path, line }) => ({ path, content: `${line}\n`, whole: true })),
		];
		const needed = [...new Set(placed.map((file) => at(file.id)))];
		const answer = await link.tell(at(id), { name, text, files, needed, done: this.#told.get(id) ?? "", from });
		return answer === "otherwise" ? undefined : answer;
	}

	/** Keeps a container in use until the command has recorded its end, and while its shell has jobs, in case no program is left to watch it. */
	#marksOf(id: string, { bash, placed }: Pick<ShellCommand, "bash" | "placed">): { readonly path: string; readonly line: string }[] {
		const { login } = this.#reach;
		if (!this.#container || !login) return [];
		const mark = (whose: string, until: string) => ({ path: busyIn(login, whose), line: `${bash.pid} ${bash.start} ${until}` });
		return [mark(id, "jobs"), ...placed.filter(({ name }) => name === "exit").map((file) => mark(file.id, `${directoryIn(login, file.id)}/exit`))];
	}
}
