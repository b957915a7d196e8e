/** Parses the stream from the remote end: noise until the mark, the remote end's facts, then replies. docs/link.md. */

export interface LinkReply {
	readonly id: number;
	readonly status: number;
	readonly text: string;
	readonly bytes: Buffer;
}

export interface Listener {
	/** Called when the remote end has started and sent its facts. */
	ready(facts: readonly string[]): void;
	reply(reply: LinkReply): void;
	/** Called when the remote end reports that it cannot work, or the stream has foreign bytes. Nothing follows. */
	broken(why: string): void;
}

const NOISE_KEPT = 2_000;
const NOISE_MOST = 1 << 26; // output of startup files; not kept, but it has to be read
const LINE_MOST = 1 << 20; // before the mark: a line this long is no greeting
const NONE = Buffer.alloc(0);

export class Replies {
	/** The end of the bytes before the mark: a banner, or the message of something that is not a remote end. */
	noise = "";
	readonly #mark: string;
	readonly #listener: Listener;
	#chunks: Buffer[] = [];
	#length = 0;
	#seen = 0;
	#facts: string[] | undefined;
	#ready = false;
	#over = false;
	#head: Omit<LinkReply, "bytes"> | undefined;
	#wanted = 0;

	constructor(mark: string, listener: Listener) {
		this.#mark = mark;
		this.#listener = listener;
	}

	/** Whether there is more to come of a reply that has begun. */
	get partial(): boolean {
		return this.#head !== undefined || this.#length > 0;
	}

	take(chunk: Buffer): void {
		if (this.#over) return;
		this.#chunks.push(chunk);
		this.#length += chunk.length;
		if (!this.#facts) this.#skip();
		while (!this.#over && (this.#head ? this.#body(this.#head) : this.#line()));
	}

	/** One complete line, if available. */
	#line(): boolean {
		const end = this.#newline();
		if (end < 0) {
			if (!this.#ready && this.#length > LINE_MOST) this.#break("it sends nothing but what is not ours");
			return false;
		}
		const line = this.#cut(end + 1).toString(this.#ready ? "latin1" : "utf8", 0, end);
		if (this.#ready) this.#header(line);
		else this.#greeting(line);
		return true;
	}

	#greeting(line: string): void {
		const at = line.indexOf(this.#mark);
		const said = at < 0 ? "" : line.slice(at + this.#mark.length + 1);
		if (said.startsWith("error ")) this.#break(said.slice(6));
		else if (said === "facts 1") this.#facts = [];
		else if (said === "ready" && this.#facts) {
			this.#ready = true;
			this.#listener.ready(this.#facts);
		} else if (this.#facts) this.#facts.push(line);
		else this.#drop(Buffer.from(`${line}\n`));
	}

	/** Drops all complete lines before that of the mark at once: a login may print millions of them. */
	#skip(): void {
		const all = this.#cut(this.#length);
		const at = all.indexOf(this.#mark);
		const end = (at < 0 ? all.lastIndexOf(10) : all.lastIndexOf(10, at)) + 1;
		this.#drop(all.subarray(0, end));
		this.#length = all.length - end;
		this.#chunks = [all.subarray(end)];
		if (this.#seen > NOISE_MOST)
			this.#break(`what a login runs there first (rc files, a forced command) printed more than ${NOISE_MOST >> 20} MiB, and our shell has not answered yet`);
	}

	#drop(noise: Buffer): void {
		this.#seen += noise.length;
		this.noise = `${this.noise}${noise.toString("utf8", Math.max(0, noise.length - NOISE_KEPT))}`.slice(-NOISE_KEPT);
	}

	#header(line: string): void {
		const match = /^=(\d+) (\d+) (\d+)(?: (.*))?$/s.exec(line);
		if (!match) {
			this.#foreign(line);
			return;
		}
		const head = { id: Number(match[1]), status: Number(match[2]), text: Buffer.from(match[4] ?? "", "latin1").toString("utf8") };
		this.#wanted = Number(match[3]);
		if (this.#wanted > 0) this.#head = head;
		else this.#listener.reply({ ...head, bytes: NONE });
	}

	/** The bytes of a reply. The trailer proves that no foreign bytes came between. */
	#body(head: Omit<LinkReply, "bytes">): boolean {
		const end = `\n.${head.id}\n`;
		if (this.#length < this.#wanted + end.length) return false;
		const bytes = this.#cut(this.#wanted + end.length);
		const behind = bytes.toString("latin1", this.#wanted);
		this.#head = undefined;
		if (behind !== end) this.#foreign(behind);
		else this.#listener.reply({ ...head, bytes: bytes.subarray(0, this.#wanted) });
		return true;
	}

	#foreign(text: string): void {
		this.#break(`there is something in the stream that the remote end did not send: ${JSON.stringify(text.slice(0, 80))}`);
	}

	#break(why: string): void {
		this.#over = true;
		this.#listener.broken(why);
	}

	#newline(): number {
		let before = 0;
		for (const chunk of this.#chunks) {
			const at = chunk.indexOf(10);
			if (at >= 0) return before + at;
			before += chunk.length;
		}
		return -1;
	}

	#cut(length: number): Buffer {
		this.#length -= length;
		const parts: Buffer[] = [];
		for (let left = length; left > 0; ) {
			const chunk = this.#chunks[0] as Buffer;
			if (chunk.length > left) this.#chunks[0] = chunk.subarray(left);
			else this.#chunks.shift();
			parts.push(chunk.subarray(0, left));
			left -= Math.min(left, chunk.length);
		}
		return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, length);
	}
}
