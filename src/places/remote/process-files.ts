/** Files of the process directories on a remote machine. */
import fs from "node:fs";
import path from "node:path";
import { type Home, shellQuote } from "../../base/index.js";
import { procDir } from "../../keeper/index.js";
import type { Placed } from "../line.js";
import { LinkBroken } from "../link/index.js";
import type { ProcessFiles } from "../machine.js";
import type { Reach } from "./reach.js";

const PIECE = 256 * 1024;
/** Longer content is sent separately, not as part of a script. */
export const INLINE = 32 * 1024;

export class RemoteProcessFiles implements ProcessFiles {
	readonly #home: Home;
	readonly #reach: Reach;

	constructor(home: Home, reach: Reach) {
		this.#home = home;
		this.#reach = reach;
	}

	/** Writes a new file with this content, at any path. */
	async write(file: string, content: Buffer): Promise<void> {
		await this.#reach.use(async (link) => {
			for (let at = 0; at < content.length || at === 0; at += PIECE) await link.write(file, at, content.subarray(at, at + PIECE));
		});
	}

	/** Without a name: the directory of the process. */
	path(id: string, name?: string): string {
		const dir = this.#reach.directoryOf(id);
		return name === undefined ? dir : `${dir}/${name}`;
	}

	put(id: string, name: string, content: string): void {
		this.#reach.tidy(`umask 077; ${putLine(this.path(id), { id, name, content })}`); // unreachable: the remote file stays
	}

	remove(id: string, name: string): void {
		this.#reach.tidy(`rm -f ${shellQuote(this.path(id, name))}`);
	}

	async fetch(id: string, names: readonly string[]): Promise<boolean> {
		const found = await Promise.all(names.map((name) => this.#fetch(id, name)));
		return found.some(Boolean);
	}

	async #fetch(id: string, name: string): Promise<boolean> {
		await this.#reach.ready();
		const bytes = await this.#reach.use(async (link) => {
			const pieces: Buffer[] = [];
			for (let at = 0; ; ) {
				const { bytes: piece, size } = await link.read(this.path(id, name), at, PIECE).catch((error) => {
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

	async arrival(id: string, name: string, signal: AbortSignal): Promise<void> {
		await this.#reach.ready(signal);
		const { bytes } = await this.#reach.use((link) => link.follow(this.path(id, name), 0, PIECE, signal), { signal });
		this.#keep(id, name, bytes);
	}

	async discard(id: string, before: number): Promise<void> {
		await this.#reach.ready();
		const script = `cd ${shellQuote(this.#reach.directoryOf(id))} && for f in out.*; do n=\${f#out.}; [ "$((1$n - 1000000000000000))" -lt ${before} ] && rm -f "$f"; done; true`;
		await this.#reach.use((link) => link.run(script));
	}

	#keep(id: string, name: string, bytes: Buffer): void {
		fs.writeFileSync(path.join(procDir(this.#home, id), name), bytes, { mode: 0o600 });
	}
}

/** Shell text. Writes in place: programs that have the file open see the new content. Readers ignore what follows a NUL. */
export function putLine(directory: string, { name, content }: Placed): string {
	const text = content.endsWith("\0") ? content.slice(0, -1) : content;
	return `printf '%s${content.endsWith("\0") ? "\\0" : ""}' ${shellQuote(text)} 1<>${shellQuote(`${directory}/${name}`)} || exit 8`;
}
