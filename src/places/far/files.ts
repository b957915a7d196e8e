/** Files of the process directories on another machine. */
import fs from "node:fs";
import path from "node:path";
import type { Home } from "../../base/home.js";
import { shellQuote } from "../../base/quote.js";
import { procDir } from "../../keeper/layout.js";
import { LinkBroken } from "../link/index.js";
import type { Reach } from "./reach.js";

/** A file of a process directory that has to be there before a shell is told something. */
export interface Placed {
	readonly id: string;
	readonly name: string;
	readonly content: string;
}

const PIECE = 256 * 1024;
/** What is longer goes there by itself, not as part of a script. */
export const INLINE = 32 * 1024;

export class Files {
	readonly #home: Home;
	readonly #reach: Reach;

	constructor(home: Home, reach: Reach) {
		this.#home = home;
		this.#reach = reach;
	}

	/** The whole content of a new file, which may be anywhere. */
	async write(file: string, content: Buffer): Promise<void> {
		await this.#reach.use(async (link) => {
			for (let at = 0; at < content.length || at === 0; at += PIECE) await link.write(file, at, content.subarray(at, at + PIECE));
		});
	}

	/** Overwrite one. Nobody waits for it. */
	put(file: Placed): void {
		this.#reach.tidy(`umask 077; ${putLine(this.#reach.directoryOf(file.id), file)}`); // out of reach: what is there stays
	}

	remove(id: string, name: string): void {
		this.#reach.tidy(`rm -f ${shellQuote(this.#at(id, name))}`);
	}

	/** Have one here as it is there. False: it is not there, and what is here is left as it is. */
	async fetch(id: string, name: string): Promise<boolean> {
		await this.#reach.ready();
		const bytes = await this.#reach.use(async (link) => {
			const pieces: Buffer[] = [];
			for (let at = 0; ; ) {
				const { bytes: piece, size } = await link.read(this.#at(id, name), at, PIECE).catch((error) => {
					if (error instanceof LinkBroken) throw error;
					return { bytes: Buffer.alloc(0), size: 0 };
				});
				pieces.push(piece);
				at += piece.length;
				if (piece.length === 0 || at >= size) return Buffer.concat(pieces);
			}
		});
		if (bytes.length === 0) return false;
		this.#keep(id, name, bytes);
		return true;
	}

	/** Wait until one is there, with something in it, and have it here. */
	async arrival(id: string, name: string, signal: AbortSignal): Promise<void> {
		await this.#reach.ready(signal);
		const { bytes } = await this.#reach.use((link) => link.follow(this.#at(id, name), 0, PIECE, signal), { signal });
		this.#keep(id, name, bytes);
	}

	/** Drop segments of a log before an offset. */
	async discard(id: string, before: number): Promise<void> {
		await this.#reach.ready();
		const script = `cd ${shellQuote(this.#reach.directoryOf(id))} && for f in out.*; do n=\${f#out.}; [ "$((1$n - 1000000000000000))" -lt ${before} ] && rm -f "$f"; done; true`;
		await this.#reach.use((link) => link.run(script));
	}

	#at = (id: string, name: string): string => `${this.#reach.directoryOf(id)}/${name}`;

	#keep(id: string, name: string, bytes: Buffer): void {
		fs.writeFileSync(path.join(procDir(this.#home, id), name), bytes, { mode: 0o600 });
	}
}

/** Shell text. In place: whoever has it open sees the new content. What is behind a NUL is nobody's business. */
export function putLine(directory: string, { name, content }: Placed): string {
	const text = content.endsWith("\0") ? content.slice(0, -1) : content;
	return `printf '%s${content.endsWith("\0") ? "\\0" : ""}' ${shellQuote(text)} 1<>${shellQuote(`${directory}/${name}`)} || exit 8`;
}
