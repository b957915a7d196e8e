/** Runs as data for other programs: one episode at a time, so that the size of a run does not matter. agent/docs/data.md */
import fs from "node:fs";
import path from "node:path";
import { AgentError, fromSystem } from "../base/index.js";
import { atifOf } from "./atif.js";
import { lineOf } from "./columns.js";
import { type ExportedEpisode, episodesOf, openRun, type RunToExport, type Selection } from "./episode.js";
import { HarborJob } from "./harbor.js";
import { hermesRows } from "./hermes.js";
import { openaiRow, sharegptRow } from "./messages.js";
import { predictionOf } from "./predictions.js";
import { rolloutRows } from "./rollouts.js";

export { sendToAtropos } from "./atropos/index.js";
export type { OutcomeKind } from "./episode.js";

export const RUN_FORMATS = ["atif", "openai", "sharegpt", "hermes", "harbor", "predictions", "rollouts"] as const;
export type RunFormat = (typeof RUN_FORMATS)[number];

export interface ExportOptions extends Selection {
	readonly dir: string;
	readonly format: RunFormat;
	/** A file; of `harbor` a folder. Undefined: `print` has it. */
	readonly output?: string;
	readonly print: (text: string) => Promise<void>;
	readonly redact: (text: string) => string;
}

export interface Exported {
	readonly episodes: number;
	readonly rows: number;
	/** Episodes of the run that have no result yet. */
	readonly open: number;
	/** Episodes that have no row in this format: no token ids, or another kind of task. */
	readonly without: number;
	readonly corrupted: number;
	readonly unknownTools: number;
}

/** A file is written under another name and then renamed: it is whole or not there. */
export async function exportRun(options: ExportOptions): Promise<Exported> {
	const run = openRun(options.dir);
	const counts = { episodes: 0, rows: 0, open: run.items.length - run.results.size, without: 0, corrupted: 0, unknownTools: 0 };
	const seen = (episode: ExportedEpisode, rows: number): void => {
		counts.episodes++;
		counts.rows += rows;
		if (rows === 0) counts.without++;
		if (episode.corrupted !== "") counts.corrupted++;
		if (episode.unknownTools.length > 0) counts.unknownTools++;
	};
	if (options.format === "harbor") exportJob(run, options, seen);
	else await exportRows(run, options, seen);
	return counts;
}

type Seen = (episode: ExportedEpisode, rows: number) => void;

function exportJob(run: RunToExport, { output, redact, ...selection }: ExportOptions, seen: Seen): void {
	if (output === undefined) throw new AgentError("INVALID", "a job of Harbor is a folder; give one with -o DIR");
	const job = new HarborJob(path.resolve(output), run, redact);
	for (const episode of episodesOf(run, selection)) {
		job.add(episode);
		seen(episode, 1);
	}
	job.end();
}

async function exportRows(run: RunToExport, { format, output, print, redact, ...selection }: ExportOptions, seen: Seen): Promise<void> {
	const rowsOf = rowsIn(format as Exclude<RunFormat, "harbor">, run);
	const sink = output === undefined ? { write: print, end: () => {}, drop: () => {} } : fileSink(output);
	try {
		for (const episode of episodesOf(run, selection)) {
			let rows = 0;
			for (const row of rowsOf(episode)) {
				await sink.write(redact(lineOf(row)));
				rows++;
			}
			seen(episode, rows);
		}
		sink.end();
	} catch (error) {
		sink.drop();
		throw error;
	}
}

function rowsIn(format: Exclude<RunFormat, "harbor">, run: RunToExport): (episode: ExportedEpisode) => Iterable<unknown> {
	const each = (row: (episode: ExportedEpisode) => unknown) => (episode: ExportedEpisode) => [row(episode)];
	switch (format) {
		case "atif":
			return each(atifOf);
		case "openai":
			return each(openaiRow);
		case "sharegpt":
			return each(sharegptRow);
		case "hermes":
			return each(hermesRows(run));
		case "rollouts":
			return rolloutRows;
		case "predictions":
			return (episode) => [predictionOf(episode)].filter((row) => row !== undefined);
	}
}

function fileSink(file: string) {
	const part = `${file}.${process.pid}.part`;
	let fd: number;
	try {
		fd = fs.openSync(part, "wx", 0o600);
	} catch (error) {
		throw fromSystem(error, `cannot write ${file}`);
	}
	return {
		write: async (text: string): Promise<void> => {
			try {
				fs.writeFileSync(fd, text);
			} catch (error) {
				throw fromSystem(error, `cannot write ${file}`);
			}
		},
		end: (): void => {
			fs.closeSync(fd);
			fs.renameSync(part, file);
		},
		drop: (): void => {
			fs.closeSync(fd);
			fs.rmSync(part, { force: true });
		},
	};
}
