/** A run as a part of the core's page: its files for the browser, and answers below `/api/parts/run/`. */
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import type { Runtime } from "holdfast";
import type { PartVisit, SitePart } from "holdfast/http";
import * as z from "zod";
import { AgentError, fromSystem } from "../base/index.js";
import { askRun, readProgress } from "../run/index.js";
import { episodeView, runView, versionOf } from "./run-view.js";

export interface RunPartOptions {
	readonly dir: string;
	readonly runtime: Runtime;
	/** Takes keys out of what is sent. */
	readonly redact: (text: string) => string;
}

/** From src and from dist alike. */
const FILES = fileURLToPath(new URL("../../dist/web/", import.meta.url));
const STATUS: Readonly<Record<string, number>> = { INVALID: 400, NOT_FOUND: 404, BROKEN: 409, BUSY: 409 };
const askSchema = z.union([
	z.strictObject({ do: z.enum(["pause", "continue"]) }),
	z.strictObject({ do: z.enum(["cancel", "requeue"]), index: z.number().int().min(0) }),
]);

export function runPart({ dir, runtime, redact }: RunPartOptions): SitePart {
	const answer = (status: number, body: unknown): Response =>
		new Response(redact(JSON.stringify(body)), { status, headers: { "Content-Type": "application/json", "Cache-Control": "no-store" } });
	return {
		name: "run",
		label: "Run",
		icon: "M2.5 3h3v3h-3zM6.5 3h3v3h-3zM10.5 3h3v3h-3zM2.5 10h3v3h-3zM6.5 10h3v3h-3zM10.5 10h3v3h-3z",
		files: FILES,
		get script() {
			return built("run-", "js");
		},
		get style() {
			return built("page-", "css");
		},
		async fetch(request, visit) {
			try {
				return answer(200, await answered(dir, runtime, request, visit));
			} catch (error) {
				const { code, message } = fromSystem(error, "this did not work");
				return answer(STATUS[code] ?? 500, { error: { code, message } });
			}
		},
	};
}

async function answered(dir: string, runtime: Runtime, request: Request, visit: PartVisit): Promise<unknown> {
	const { searchParams } = new URL(request.url);
	const [, what, index] = /^\/(run|requests|episodes)(?:\/(\d{1,9}))?$/.exec(visit.path) ?? [];
	if (request.method === "GET" && what === "run") return searchParams.get("since") === versionOf(dir) ? { same: true } : runView(dir);
	if (request.method === "GET" && what === "episodes" && index !== undefined) {
		const attempt = Number(searchParams.get("attempt") ?? Number.NaN);
		return episodeView(dir, runtime, Number(index), Number.isInteger(attempt) ? attempt : undefined);
	}
	if (request.method === "POST" && what === "requests") return asked(dir, await visit.json());
	throw new AgentError("NOT_FOUND", "there is nothing at this path");
}

async function asked(dir: string, body: unknown): Promise<unknown> {
	const parsed = askSchema.safeParse(body);
	if (!parsed.success) throw new AgentError("INVALID", "the request cannot be used; it takes pause, continue, cancel or requeue");
	const wanted = parsed.data;
	if (!("index" in wanted)) return askRun(dir, { do: wanted.do });
	const { index } = wanted;
	const progress = readProgress(dir);
	const result = progress.results.get(index);
	if (wanted.do === "requeue" ? !result : result)
		throw new AgentError("INVALID", `episode ${index} has ${result ? "its result already; make it again instead" : "no result that could be taken back"}`);
	const made = progress.attempts.get(index) ?? 0;
	return askRun(dir, { do: wanted.do, index, attempt: result?.attempt ?? (progress.open.has(index) ? made : made + 1) });
}

/** Its name has a hash in it, and is another one after every build. */
function built(start: string, end: string): string {
	const names = fs.existsSync(FILES) ? fs.readdirSync(FILES) : [];
	return names.find((name) => name.startsWith(start) && name.endsWith(`.${end}`)) ?? `${start}${end}`;
}
