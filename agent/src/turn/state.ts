/** Files beside a conversation's log: `conversations/ID.d/`. None of them is needed to understand the log. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { type AgentHome, ensureDir, fileKey, readIfThere, writeWhole } from "../base/index.js";

const HOUR_MS = 3_600_000;

const cutSchema = z.object({
	/** How long the log was when the turn went on after a crash, and when that was. */
	resumed: z.array(z.object({ line: z.number(), at: z.number() })).default([]),
	/** How long the log was when the turn was left in good order. */
	left: z.number().optional(),
});

export const stateDir = (home: AgentHome, id: string): string => path.join(home.conversations, `${id}.d`);

export class ConversationState {
	readonly #home: AgentHome;
	readonly #id: () => string;

	/** `id`: asked when a file is needed. */
	constructor(home: AgentHome, id: () => string) {
		this.#home = home;
		this.#id = id;
	}

	get dir(): string {
		return stateDir(this.#home, this.#id());
	}

	/** The list of steps. */
	get todo(): string {
		return path.join(this.#made(), "todo.json");
	}

	/** Answers of the person to questions of the model. */
	get answers(): string {
		return path.join(this.dir, "answers");
	}

	/** Keeps all of a result that is sent shortened. Without it only the log's text can be read back. */
	keepWhole(call: string, text: string): void {
		try {
			const dir = path.join(this.#made(), "results");
			ensureDir(dir);
			writeWhole(path.join(dir, fileKey(call)), text);
		} catch {
			// a full disk: the result itself is about to say so
		}
	}

	wholeOf(call: string): string | undefined {
		return readIfThere(path.join(this.dir, "results", fileKey(call)))?.toString("utf8");
	}

	/** A turn that was cut short at this line goes on. Returns how often it was within the last hour, this time included; 0: it was left in good order. */
	resumedAt(line: number, now: number): number {
		const { resumed, left } = this.#cut();
		if (left === line) {
			this.#write({ resumed: [] });
			return 0;
		}
		const recent = [...resumed.filter((one) => one.line === line && now - one.at < HOUR_MS), { line, at: now }];
		this.#write({ resumed: recent });
		return recent.length;
	}

	leftAt(line: number): void {
		this.#write({ resumed: [], left: line });
	}

	#cut(): z.infer<typeof cutSchema> {
		try {
			return cutSchema.parse(JSON.parse(readIfThere(path.join(this.dir, "cut.json"))?.toString("utf8") ?? "{}"));
		} catch {
			return { resumed: [] }; // half a file counts as none
		}
	}

	#write(cut: z.infer<typeof cutSchema>): void {
		try {
			writeWhole(path.join(this.#made(), "cut.json"), JSON.stringify(cut));
		} catch {
			// a full disk: then this crash is not counted
		}
	}

	#made(): string {
		if (!fs.existsSync(this.dir)) ensureDir(this.dir);
		return this.dir;
	}
}
