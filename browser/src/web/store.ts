/** Pages that were read, as files of the task: what was fetched once is read on from here, also by another program and after a compaction. */
import { createHash } from "node:crypto";
import type { ToolContext } from "holdfast";
import { HoldfastError } from "holdfast";
import * as z from "zod";
import { WebError } from "../base/index.js";

const metaSchema = z.object({
	id: z.string(),
	url: z.string(),
	title: z.string(),
	type: z.string(),
	fetched: z.string(),
	notes: z.array(z.string()),
});

export type PageMeta = z.infer<typeof metaSchema>;

export interface KeptPage extends PageMeta {
	readonly text: string;
	/** The path of the file, in the task's place. */
	readonly path: string;
}

type Files = ToolContext["files"];

const KNOWN = 64;
const ID = /^web_[0-9a-f]{12}$/;

export class PageStore {
	readonly #directory: string;
	/** The directories of pages, by task and id: the home may not be writable, and then they are in /tmp. */
	readonly #where = new Map<string, string>();

	constructor(directory = "~/.cache/holdfast-web") {
		this.#directory = directory.replace(/\/+$/, "");
	}

	async keep(files: Files, task: string, page: Omit<PageMeta, "id"> & { readonly text: string }, signal: AbortSignal): Promise<KeptPage> {
		const { text, ...rest } = page;
		const id = `web_${createHash("sha256").update(`${page.url}\n${page.fetched}\n${task}`).digest("hex").slice(0, 12)}`;
		const meta: PageMeta = { id, ...rest };
		let problem: unknown;
		for (const directory of this.#directories(task)) {
			try {
				const written = await files.write(`${directory}/${id}.md`, text, { signal, mode: 0o600 });
				await files.write(`${directory}/${id}.json`, `${JSON.stringify(meta, undefined, "\t")}\n`, { signal, mode: 0o600 });
				this.#remember(task, id, directory);
				return { ...meta, text, path: written.path };
			} catch (error) {
				if (signal.aborted) throw error;
				problem = error;
			}
		}
		throw problem;
	}

	/** Throws `WebError` for an id that there is not. */
	async read(files: Files, task: string, id: string, signal: AbortSignal): Promise<KeptPage> {
		if (!ID.test(id)) throw new WebError(`${JSON.stringify(id.slice(0, 60))} is no id of a page; they look like web_0123456789ab. Give urls to fetch pages`);
		const known = this.#where.get(`${task}\n${id}`);
		for (const directory of known === undefined ? this.#directories(task) : [known]) {
			try {
				const meta = metaSchema.parse(JSON.parse((await files.read(`${directory}/${id}.json`, { signal })).toString("utf8")));
				const text = (await files.read(`${directory}/${id}.md`, { signal })).toString("utf8");
				return { ...meta, text, path: `${directory}/${id}.md` };
			} catch (error) {
				if (signal.aborted || (error instanceof HoldfastError && error.code === "UNREACHABLE")) throw error;
			}
		}
		throw new WebError(`there is no page ${id} in this task (any more); give its url to fetch it again`);
	}

	#directories(task: string): string[] {
		const name = createHash("sha256").update(task).digest("hex").slice(0, 12);
		return [`${this.#directory}/${name}`, `/tmp/holdfast-web-${name}`];
	}

	#remember(task: string, id: string, directory: string): void {
		this.#where.set(`${task}\n${id}`, directory);
		for (const first of this.#where.keys()) if (this.#where.size > KNOWN) this.#where.delete(first);
	}
}
