/** Mistakes that could be made in the log, the history and the inbox. A random life must find each. */
import fs from "node:fs";
import { admit, type Entry, type EntryBody, history, type LogRules, type Sequence } from "../../../src/talk/index.js";
import type { Mistakes } from "./life.js";

/** Rules that let some lines through. */
const lets =
	(through: (body: EntryBody, sequence: Sequence) => boolean) =>
	(sequence: Sequence): LogRules => ({
		check: (body) => (through(body, sequence) ? undefined : sequence.check(body)),
		advance: (entry) => sequence.advance(entry),
	});

/** A history that sees other lines than there are. */
const sees = (change: (entry: Entry) => Entry) => (entries: readonly Entry[]) => history(entries.map(change));

export const MISTAKES: Readonly<Record<string, Mistakes>> = {
	"a message is admitted between a call and its result": {
		rules: lets(({ t }, { openCalls }) => t === "user" && openCalls.length > 0),
	},
	"a summary may end between a call and its result": {
		rules: lets((body, { openCalls }) => body.t === "summary" && openCalls.length === 0 && body.upto < 1_000 && /between/.test(body.text)),
	},
	"an id of a call is taken twice": { rules: lets((body, { answerable }) => body.t === "assistant" && body.calls.length > 0 && answerable) },
	"a summary hides one line too many": { history: sees((entry) => (entry.t === "summary" ? { ...entry, upto: entry.upto + 1 } : entry)) },
	"what was undone is sent": { history: sees((entry) => (entry.t === "undone" ? { t: "ended", why: "", n: entry.n, at: entry.at } : entry)) },
	"reasoning goes to another model": { history: sees((entry) => (entry.t === "set" ? { t: "ended", why: "", n: entry.n, at: entry.at } : entry)) },
	"nothing is said after an answer that was cut": {
		history: (entries) => history(entries).filter((message) => message.role !== "user" || !/not whole|before it was whole/.test(message.text)),
	},
	"shortened results are left out": {
		history: (entries) => history(entries).filter((message) => message.role !== "result" || !message.text.includes("recall(")),
	},
	"a message leaves the inbox before it is in the log": {
		async admit(inbox, log) {
			if (log.openCalls.length > 0) return [];
			const items = inbox.waiting();
			await inbox.move(
				() => true,
				async () => {},
			);
			for (const item of items) await log.append({ t: "notice", id: item.id, text: item.text });
			return [];
		},
	},
	"a message that is in both is said twice": {
		admit: (inbox, log) =>
			admit(
				inbox,
				Object.create(log, {
					hasMessage: { value: () => false },
					openCalls: { get: () => log.openCalls },
					append: { value: (body: EntryBody) => log.append("id" in body && body.t !== "begun" ? { ...body, id: `${body.id}.${log.entries.length}` } : body) },
				}),
			),
	},
	"the inbox is not synced": { syncs: (file) => !file.includes("/inbox/") },
	"messages in the log are not synced": { syncs: (file) => !file.includes("/conversations/") },
	"a torn line is taken for a whole one": {
		beforeOpen: (file) => {
			const bytes = fs.readFileSync(file);
			if (bytes.at(-1) !== 10) fs.appendFileSync(file, '\n{"t":"ended","why":"","n":0,"at":""}\n');
		},
	},
	"calls stay open after an interrupt": { forgetsCalls: "interrupt" },
	"calls stay open after a crash": { forgetsCalls: "crash" },
};
