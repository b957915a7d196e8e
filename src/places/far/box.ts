/** A machine that is not this one, with what this home keeps there: process directories, our scripts, and the one link to all of it. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../base/errors.js";
import type { Home } from "../../base/home.js";
import type { Kernel } from "../../base/kernel.js";
import type { Identity } from "../../base/proc.js";
import { shellQuote } from "../../base/quote.js";
import { procDir } from "../../keeper/layout.js";
import type { Tools } from "../../keeper/tools.js";
import type { Host, Over } from "../host.js";
import { Connection, type Link, LinkBroken } from "../link/index.js";
import { farKernel } from "./kernel.js";
import { goneFor, type Looker } from "./look.js";
import { Mirror, type Source, type Within } from "./mirror.js";
import { type From, leaveRemoved } from "./removed.js";
import { installScript, ownScripts } from "./scripts.js";
import type { Seen, Wanted } from "./seen.js";
import { toolsFrom } from "./tools.js";

export interface Ready {
	/** This home's own directory there. */
	readonly directory: string;
	/** Where our scripts are, a directory for each room. */
	readonly scripts: string;
	/** Where a new shell starts. */
	readonly cwd: string;
	readonly tools: Tools;
	/** That of a login. */
	readonly environment: Readonly<Record<string, string>>;
	readonly umask: number;
}

/** A file of a process directory that has to be there before a shell is told something. */
export interface Placed {
	readonly id: string;
	readonly name: string;
	readonly content: string;
}

export interface BoxOptions {
	readonly key: string;
	readonly name: string;
	readonly owner: string;
	/** It can be removed, with all that is in it. */
	readonly container?: boolean;
	/** Somebody is about to use it, and is not just looking on. */
	readonly touch?: (signal?: AbortSignal) => Promise<void>;
	/** It has been reached, in this life of it. */
	readonly onLife?: (life: string) => void;
}

/** What goes with a line for a shell: see Box.command. */
export interface Told {
	readonly name: string;
	readonly placed: readonly Placed[];
	readonly bash: Identity;
	readonly life?: string;
	readonly farewell?: boolean;
	readonly from?: From;
}

const PIECE = 256 * 1024;
const INLINE = 32 * 1024;
const FIFO_PIECE = 4096; // PIPE_BUF
const REMEMBERED = 256;
const CLOSE_MS = 1_000;
const REPEATS = 20; // of a look whose link breaks
const RUN_BYTES = 64 * 1024 * 1024;

export class Box {
	readonly key: string;
	/** As people call it. */
	readonly name: string;
	readonly kernel: Kernel;
	readonly #home: Home;
	readonly #connection: Connection;
	readonly #mirrors = new Map<string, Mirror>();
	/** What was found out about it, by the link it was found out through: another one may lead to another life of it. */
	readonly #known = new WeakMap<Link, Promise<Ready>>();
	/** What nobody waits for. */
	readonly #later = new Set<Promise<unknown>>();
	/** What each shell was told last, for certain: nobody will send it again. */
	readonly #told = new Map<string, string>();
	readonly #seen = new Map<number, Pick<Seen, "children" | "reaped" | "idle">>();
	#ready: Ready | undefined;
	#notes: string[] = [];
	#cwd: string | undefined;
	skew = 0;
	/** Why the last try to reach it failed. */
	trouble: string | undefined;
	boot = "";
	/** One life of it: what was made in another one is gone. Known once it has been reached. */
	life = "";
	readonly #host: Host;
	readonly #container: boolean;
	readonly #touch: BoxOptions["touch"];
	#closed = false;
	/** How often it has been ended on purpose. */
	#ends = 0;
	#resting = false;

	constructor(host: Host, home: Home, { key, name, owner, container = false, touch, onLife }: BoxOptions) {
		this.#container = container;
		this.#host = host;
		this.#touch = touch;
		this.key = key;
		this.name = name;
		this.#home = home;
		this.#connection = new Connection(host, {
			dir: "",
			name: owner,
			onConnected: (facts, { notes, cwd, instance }) => {
				this.trouble = undefined;
				this.#notes.push(...notes, ...facts.notes);
				this.#cwd = cwd;
				this.boot = facts.bootId ?? "";
				this.life = instance ?? this.boot;
				onLife?.(this.life);
			},
			onFailed: ({ message }) => {
				this.trouble = message;
				for (const mirror of this.#mirrors.values()) if (mirror.followed) mirror.unreachable(message);
			},
		});
		this.kernel = farKernel({
			run: (script) => this.#running((link) => link.run(script, { limit: RUN_BYTES }), true),
			once: (script) => this.#running((link) => link.run(script, { limit: RUN_BYTES }), false),
			look: (questions) => this.#running((link) => link.look(questions), true),
		});
	}

	/** Reach it, with everything there that a start needs. */
	ready(signal?: AbortSignal): Promise<Ready> {
		return this.#use((link) => this.#prepare(link), signal);
	}

	/** What its user should know, once. */
	takeNotes(): string[] {
		return this.#notes.splice(0);
	}

	/** What was found there, once it has been reached. */
	get login(): Ready | undefined {
		return this.#ready;
	}

	/** Where the directory of a process is there. Only after `ready`. */
	directoryOf(id: string): string {
		if (!this.#ready) throw new HoldfastError("UNREACHABLE", `${this.name} has not been reached yet`);
		return inside(this.#ready.directory, id);
	}

	/** A script that can be run twice without harm. */
	run(
		script: string,
		{ signal, starts = false, again = true }: { signal?: AbortSignal; starts?: boolean; again?: boolean } = {},
	): Promise<{ status: number; output: Buffer; error: string }> {
		return this.#use((link) => link.run(script, { starts, limit: RUN_BYTES, ...(signal ? { signal } : {}) }), signal, again);
	}

	/** For whatever else is to be done with it; it must do no harm if it is done twice. */
	use<T>(work: (link: Link) => Promise<T>, signal?: AbortSignal): Promise<T> {
		return this.#use(work, signal);
	}

	/** The whole content of a new file. */
	async write(file: string, content: Buffer): Promise<void> {
		await this.#use(async (link) => {
			for (let at = 0; at < content.length || at === 0; at += PIECE) await link.write(file, at, content.subarray(at, at + PIECE));
		});
	}

	/** Tell the collector of a process something. The leading newline keeps it apart from what dd may be writing. Nobody there: then there is nothing to tell. */
	async tell(id: string, message: string): Promise<void> {
		await this.#quietly(async (link) => {
			const { directory } = await this.#prepare(link);
			await link.send(`${inside(directory, id)}/ctl`, Buffer.from(`\n${message}\n`));
		});
	}

	/** Bytes to the stdin of a process. Resolves with how many, when they are in its pipe; fewer when it is `over` before it has taken them. */
	async input(id: string, bytes: Buffer, over: () => boolean, signal?: AbortSignal): Promise<number> {
		await this.ready();
		const fifo = `${this.directoryOf(id)}/in`;
		let done = 0;
		for (let pause = 1; done < bytes.length; ) {
			if (signal?.aborted) throw new HoldfastError("ABORTED", `interrupted after ${done} of ${bytes.length} bytes had been written to ${id}`);
			const piece = bytes.subarray(done, done + FIFO_PIECE);
			const sent = await this.#connection
				.use((link) => link.send(fifo, piece), { again: false, ...(signal ? { signal } : {}) })
				.catch((error: Error) => {
					throw new HoldfastError(
						"UNREACHABLE",
						`the link to ${this.name} broke while this was written to ${id}: ${done} of ${bytes.length} bytes are there, the next ${piece.length} may be; look at its output before you send them again (${error.message})`,
						{ cause: error },
					);
				});
			if (sent === "absent" || over()) break;
			if (sent === "sent") {
				done += piece.length;
				pause = 1;
			} else {
				await sleep(pause); // its pipe is full, and nothing tells when it is not
				pause = Math.min(pause * 2, 50);
			}
		}
		if (done < bytes.length) throw new HoldfastError("ENDED", `${id} stopped reading after ${done} of ${bytes.length} bytes`);
		return done;
	}

	/**
	 * A line for a shell, with the files that it is about. Once only, however often it has to be sent: `name` tells it from others.
	 * `life`: that in which all of it was made; in another one it is gone, which is an error with the code ENDED, and nothing ran.
	 * `farewell`: nobody is woken for it. `from`: where it is to run; if that directory has been removed this resolves with where the shell went instead.
	 */
	async command(id: string, text: string, once: Told): Promise<string | undefined> {
		if (once.farewell) {
			await this.#quietly(async (link) => {
				const { directory } = await this.#prepare(link);
				await link.run(`cd ${shellQuote(inside(directory, id))} && mkdir sent.${once.name} 2>/dev/null && printf %s ${shellQuote(text)} 1<>in`);
			});
			return undefined;
		}
		const way = { tried: false, remade: false };
		try {
			return await this.#command(id, text, once, way);
		} catch (error) {
			if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE" || way.remade) throw error;
			if (!way.tried) throw new HoldfastError("START_FAILED", `nothing ran: ${error.message}`, { cause: error });
			throw new HoldfastError("UNREACHABLE", `the link broke while the command was sent, so it is not known whether it has started: ${error.message}`, {
				cause: error,
			});
		}
	}

	async #command(id: string, text: string, once: Told, way: { tried: boolean; remade: boolean }): Promise<string | undefined> {
		await this.ready();
		if (once.life !== undefined && once.life !== this.life) throw new HoldfastError("ENDED", `nothing ran: ${this.name} is not what it was`);
		let tries = 0;
		const gone = () => {
			way.remade = tries > 1;
			return tries > 1
				? new HoldfastError("UNREACHABLE", `it is not known whether it ran: ${this.name} was made again, or lost its files, while the shell was being told`)
				: new HoldfastError("ENDED", `nothing ran: the shell's directory on ${this.name} is gone`);
		};
		const answer = await this.#use((link) => {
			tries++;
			way.tried = true;
			return this.#tellQuickly(link, id, text, once);
		});
		if (answer === "gone") throw gone();
		tries = 0;
		if (answer === "told" || answer === "had") {
			this.#told.set(id, once.name);
			return undefined;
		}
		for (const { id: whose, name, content } of once.placed)
			if (content.length > INLINE) await this.write(`${this.directoryOf(whose)}/${name}`, Buffer.from(content));
		const puts = once.placed.filter(({ content }) => content.length <= INLINE).map((file) => putLine(this.directoryOf(file.id), file));
		const needed = [id, ...once.placed.map((file) => file.id)].map((one) => `cd ${shellQuote(this.directoryOf(one))} || exit 9`).reverse();
		const moved = `sent.${once.name}/moved`;
		const { status, error, output } = await this.#use((link) => {
			tries++;
			way.tried = true;
			return link.run(
				[
					...needed,
					`[ -d sent.${once.name} ] && { [ ! -e ${moved} ] || cat ${moved}; exit 0; }`,
					"umask 077",
					...puts,
					`mkdir sent.${once.name} 2>/dev/null || exit 0`,
					...this.#marksOf(id, once).map(({ path: file, line }) => `echo ${shellQuote(line)} >${shellQuote(file)}`),
					...(once.from ? [leaveRemoved(once.from, moved)] : []),
					`printf %s ${shellQuote(text)} 1<>in`,
				].join("\n"),
				{ limit: RUN_BYTES },
			);
		});
		if (status === 9) throw gone();
		if (status !== 0) throw new HoldfastError("START_FAILED", `nothing ran: the shell on ${this.name} could not be told (${error || `status ${status}`})`);
		return output.length > 0 ? output.toString("utf8") : undefined;
	}

	/** All of that without a process there, in the usual case. Undefined: it takes a script. */
	async #tellQuickly(link: Link, id: string, text: string, { name, placed, from, bash }: Told): Promise<"told" | "had" | "gone" | undefined> {
		if (link.facts.helper !== "perl" || Buffer.byteLength(text) > FIFO_PIECE || placed.some(({ content }) => content.length > INLINE)) return undefined;
		const files = [
			...placed.map((file) => ({ path: `${this.directoryOf(file.id)}/${file.name}`, content: file.content, whole: false })),
			...this.#marksOf(id, { bash, placed }).map(({ path: file, line }) => ({ path: file, content: `${line}\n`, whole: true })),
		];
		const needed = [...new Set(placed.map((file) => this.directoryOf(file.id)))];
		const answer = await link.tell(this.directoryOf(id), { name, text, files, needed, done: this.#told.get(id) ?? "", from });
		return answer === "otherwise" ? undefined : answer;
	}

	/** For a container that nobody may be left to look after: it is in use until the command has recorded its end, and while its shell has jobs. */
	#marksOf(id: string, { bash, placed }: Pick<Told, "bash" | "placed">): { readonly path: string; readonly line: string }[] {
		if (!this.#container || !this.#ready) return [];
		const { directory } = this.#ready;
		const mark = (whose: string, until: string) => ({ path: `${directory}/busy/${whose}`, line: `${bash.pid} ${bash.start} ${until}` });
		return [mark(id, "jobs"), ...placed.filter(({ name }) => name === "exit").map((file) => mark(file.id, `${this.directoryOf(file.id)}/exit`))];
	}

	/** Overwrite a file of a process there. Nobody waits for it. */
	put(id: string, name: string, content: string): void {
		this.#tidy(`umask 077; ${putLine(this.directoryOf(id), { id, name, content })}`); // out of reach: what is there stays
	}

	remove(id: string, name: string): void {
		this.#tidy(`rm -f ${shellQuote(`${this.directoryOf(id)}/${name}`)}`);
	}

	/** Have a file of a process directory here as it is there. False: it is not there, and what is here is left as it is. */
	async fetch(id: string, name: string): Promise<boolean> {
		await this.ready();
		const bytes = await this.#use(async (link) => {
			const pieces: Buffer[] = [];
			for (let at = 0; ; ) {
				const { bytes: piece, size } = await link.read(`${this.directoryOf(id)}/${name}`, at, PIECE).catch((error) => {
					if (error instanceof LinkBroken) throw error;
					return { bytes: Buffer.alloc(0), size: 0 };
				});
				pieces.push(piece);
				at += piece.length;
				if (piece.length === 0 || at >= size) return Buffer.concat(pieces);
			}
		});
		if (bytes.length === 0) return false;
		fs.writeFileSync(path.join(procDir(this.#home, id), name), bytes, { mode: 0o600 });
		return true;
	}

	/** Wait until a file of a process directory is there, with something in it, and have it here. */
	async arrival(id: string, name: string, signal: AbortSignal): Promise<void> {
		await this.ready(signal);
		const { bytes } = await this.#use((link) => link.follow(`${this.directoryOf(id)}/${name}`, 0, PIECE, signal), signal);
		fs.writeFileSync(path.join(procDir(this.#home, id), name), bytes, { mode: 0o600 });
	}

	/** Drop segments of a log before an offset. */
	async discard(id: string, before: number): Promise<void> {
		await this.ready();
		await this.run(
			`cd ${shellQuote(this.directoryOf(id))} && for f in out.*; do n=\${f#out.}; [ "$((1$n - 1000000000000000))" -lt ${before} ] && rm -f "$f"; done; true`,
		);
	}

	/** What has ended is not started again for a look. `onlyLooking`: nobody has asked for it, so it is not in use because of this. */
	async #look(id: string, looker: Looker, wanted: Wanted, onlyLooking: boolean, signal?: AbortSignal): Promise<Seen> {
		if (!onlyLooking) await this.#touch?.(signal);
		for (let repeats = 0; ; repeats++) {
			const over = await this.#over(signal).catch((error) => {
				if (onlyLooking) throw error;
				return undefined; // whoever reaches for it tries for longer
			});
			if (over) return goneFor(over.why, over.kept);
			let reached = false; // if not, others have tried for long enough
			try {
				return await this.#connection.use(
					async (link) => {
						reached = true;
						const { directory } = await this.#prepare(link);
						const seen = await looker.look(link, wanted, inside(directory, id), signal);
						this.#remember(wanted, seen);
						return seen.gone && this.#container ? goneFor("the container that it ran in was removed, or its directory in there", false) : seen;
					},
					{ again: false, ...(signal ? { signal } : {}) },
				);
			} catch (error) {
				if (!(error instanceof LinkBroken) || !reached || this.#closed || repeats >= REPEATS) throw error;
			}
		}
	}

	/** What is about those that run there: there are none in what would have to be started for it. */
	async #running<T>(work: (link: Link) => Promise<T>, again: boolean): Promise<T> {
		const over = await this.#over().catch(() => undefined); // whoever reaches for it tries for longer
		if (over) throw new HoldfastError("ENDED", `it is over: ${over.why}`);
		return this.#connection.use(work, { again });
	}

	/** All that ran in it is known to be over. */
	async isOver(): Promise<boolean> {
		return (await this.#over().catch(() => undefined)) !== undefined; // out of reach: not known
	}

	/** Why all that ran in it is over, unless it can be asked itself. */
	async #over(signal?: AbortSignal): Promise<Over | undefined> {
		if (this.#resting) return { why: "the container that it ran in was ended", kept: true };
		return this.#connection.link || this.#closed ? undefined : this.#host.over?.(signal);
	}

	#remember(wanted: Wanted, seen: Seen): void {
		if (wanted.pid !== undefined) {
			this.#seen.delete(wanted.pid);
			this.#seen.set(wanted.pid, seen);
			for (const pid of this.#seen.keys()) {
				if (this.#seen.size <= REMEMBERED) break;
				this.#seen.delete(pid);
			}
		}
	}

	/** A shell, when anything that it runs was last looked at. */
	lastSeen(pid: number): Pick<Seen, "children" | "reaped" | "idle"> | undefined {
		return this.#seen.get(pid);
	}

	/** Have the replica of a process as it is there now. */
	sync(id: string, signal?: AbortSignal): Promise<void> {
		return this.#mirror(id).sync(signal);
	}

	/** There is no newer word of it. */
	unreachable(id: string, reason: string): void {
		this.#mirror(id).unreachable(reason);
	}

	/** Keep it so, until the returned function is called. */
	follow(id: string, within?: Within): () => void {
		const mirror = this.#mirror(id);
		if (within) mirror.within = within;
		return mirror.follow();
	}

	#mirror(id: string): Mirror {
		const known = this.#mirrors.get(id);
		if (known) return known;
		const box = this;
		const source: Source = {
			look: (looker, wanted, { onlyLooking, signal }) => this.#look(id, looker, wanted, onlyLooking, signal),
			get skew() {
				return box.skew;
			},
			get boot() {
				return box.boot;
			},
		};
		const mirror = new Mirror(source, procDir(this.#home, id));
		this.#mirrors.set(id, mirror);
		return mirror;
	}

	/** It is no longer needed there either. Nobody waits for that; what is left because the box could not be reached goes when it is old. */
	forget(id: string, done: () => void = () => {}): void {
		this.#mirrors.get(id)?.drop();
		this.#mirrors.delete(id);
		this.#told.delete(id);
		if (!this.#ready) {
			done(); // nothing was ever made there by us
			return;
		}
		const at = shellQuote(this.directoryOf(id));
		// A collector that holds its log for a shell ends when it is told to, not when its directory goes.
		this.#tidy(`[ -p ${at}/ctl ] && printf '\\nrelease\\n' 1<>${at}/ctl; rm -rf ${at} ${shellQuote(`${this.#ready.directory}/busy/${id}`)}`, done);
	}

	/** A link is open: asking costs a round trip, and no wait for a machine that is gone. */
	get connected(): boolean {
		return this.#connection.link !== undefined;
	}

	/** It is ended on purpose: meanwhile nobody opens another link, and what was under way does not do so afterwards; the next use does. */
	async restDuring<T>(end: () => Promise<T>): Promise<T> {
		this.#ends++;
		this.#resting = true;
		this.#connection.link?.close();
		try {
			return await end();
		} finally {
			this.#resting = false;
		}
	}

	/** What is still to be done there is done, if that takes a moment only. */
	async close(): Promise<void> {
		if (this.connected && this.#later.size > 0) await Promise.race([Promise.all(this.#later), sleep(CLOSE_MS)]);
		this.#closed = true;
		this.#connection.close();
	}

	/** Without starting anything. */
	async #quietly(work: (link: Link) => Promise<void>): Promise<void> {
		if (await this.#over()) return;
		const ends = this.#ends;
		await this.#connection.use(work, { again: () => this.#ends === ends });
	}

	/** Housekeeping that nobody waits for, and that starts nothing. What it cannot reach stays. */
	#tidy(script: string, then: () => void = () => {}): void {
		const done = this.#quietly(async (link) => void (await link.run(script))).then(then, () => {});
		this.#later.add(done);
		void done.finally(() => this.#later.delete(done));
	}

	async #use<T>(work: (link: Link) => Promise<T>, signal?: AbortSignal, again = true): Promise<T> {
		await this.#touch?.(signal);
		const ends = this.#ends;
		return this.#connection.use(work, { again: () => again && this.#ends === ends, ...(signal ? { signal } : {}) });
	}

	#prepare(link: Link): Promise<Ready> {
		let known = this.#known.get(link);
		if (!known) {
			known = this.#findOut(link);
			this.#known.set(link, known);
			known.catch(() => this.#known.delete(link));
		}
		return known;
	}

	async #findOut(link: Link): Promise<Ready> {
		const { facts } = link;
		this.skew = facts.skewMs;
		const scripts = `${facts.dir}/scripts/${ownScripts().name}`;
		const [answers, there] = await Promise.all([
			link.look([{ ask: "content", path: `/proc/${facts.pid}/environ` }]),
			link.run(`mkdir -p ${shellQuote(`${facts.dir}/scripts`)} ${shellQuote(`${facts.dir}/busy`)} && [ -d ${shellQuote(scripts)} ]`),
		]);
		if (there.status !== 0) {
			const installed = await link.run(installScript(scripts));
			if (installed.status !== 0)
				throw new HoldfastError("START_FAILED", `our scripts could not be put on ${this.name} (${installed.error || "a full disk?"})`);
		}
		this.#ready = {
			directory: facts.dir,
			scripts,
			cwd: this.#cwd ?? facts.cwd,
			tools: toolsFrom(facts, scripts, this.name),
			environment: withoutLogin(variablesIn(answers[0]?.toString("utf8") ?? "")),
			umask: Number.parseInt(facts.umask, 8) || 0o022,
		};
		return this.#ready;
	}
}

const inside = (directory: string, id: string): string => `${directory}/procs/${id.charAt(5)}/${id}`;

/** With these a bash that is started reads ~/.bashrc, as if it were the login itself, and what that prints would be in the output. They are about a connection that may be gone, too. */
const withoutLogin = ({ SSH_CLIENT: _, SSH2_CLIENT: __, SSH_CONNECTION: ___, ...rest }: Record<string, string>): Record<string, string> => rest;

const variablesIn = (text: string): Record<string, string> =>
	Object.fromEntries(
		text
			.split("\0")
			.filter((line) => line.includes("="))
			.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
	);

/** In place: whoever has it open sees the new content. What is behind a NUL is nobody's business. */
function putLine(directory: string, { name, content }: Placed): string {
	const text = content.endsWith("\0") ? content.slice(0, -1) : content;
	return `printf '%s${content.endsWith("\0") ? "\\0" : ""}' ${shellQuote(text)} 1<>${shellQuote(`${directory}/${name}`)} || exit 8`;
}
