import { type AuditEvent, type AuditQuery, followAudit, readAudit } from "../../../audit/index.js";
import { counted } from "../../../base/index.js";
import { endsIn } from "../../../process/index.js";
import { type CommandBody, EXIT, noWords } from "../command.js";
import { type Output, oneLine } from "../output.js";
import { sinceOption } from "../quantity.js";

export const audit: CommandBody = {
	name: "audit",
	usage: "[--task NAME] [--since WHEN] [--follow]",
	options: {
		since: { type: "string", value: "WHEN", help: "only from then on: 10m, 2h, 3d, or a time as 2026-01-31T12:00" },
		follow: { type: "boolean", short: "f", help: "go on with what comes" },
		task: { type: "string", value: "NAME", help: "only this task (default: every task)" },
	},
	teach: `
Of every task, or with --task of one. With --json one object a line, as they are kept (docs/audit.md). Secrets are masked, and of what
was typed into a process only the length is there. An end that was not written down is derived from the record of the process,
and says so: worked_out.

Examples
  holdfast audit --since 1h
  holdfast audit --task website --json | jq 'select(.event == "decided")'
  holdfast audit -f`,
	async run(call) {
		noWords(call);
		const { values, out } = call;
		const since = sinceOption(call, "since");
		const query: AuditQuery = {
			...(typeof values.task === "string" ? { task: values.task } : {}),
			...(since === undefined ? {} : { since }),
		};
		const runtime = await call.runtime();
		const stop = new AbortController();
		for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) if (values.follow) process.once(name, () => stop.abort());
		const coming = values.follow ? followAudit(runtime.home, query, stop.signal) : undefined;
		const first = coming?.next(); // from here on nothing is missed
		const events = readAudit(runtime.home, query, endsIn(runtime));
		for (const event of events) print(event, out);
		if (events.length === 0 && !out.json && !coming) out.note("nothing is on record");
		if (!coming) return EXIT.ok;
		for (let next = await first; next && !next.done; next = await coming.next()) print(next.value, out);
		return EXIT.ok;
	},
};

function print(event: AuditEvent, out: Output): void {
	if (out.json) process.stdout.write(`${JSON.stringify(event)}\n`);
	else
		out.line(
			`${out.style("dim", event.at.slice(0, 19).replace("T", " "))}  ${oneLine(event.task, 20)}  ${out.style(COLOURS[event.event] ?? "cyan", event.event)}  ${words(event)}`,
		);
}

const COLOURS: Readonly<Partial<Record<AuditEvent["event"], "yellow" | "green" | "red">>> = { asked: "yellow", decided: "yellow", run: "green", killed: "red" };

function words(event: AuditEvent): string {
	const end = event.signal ?? (typeof event.exit_code === "number" ? `exit code ${event.exit_code}` : undefined);
	const found = [
		event.approval_id,
		event.outcome,
		event.session_id,
		event.status,
		end,
		event.duration_ms === undefined ? undefined : `${event.duration_ms} ms`,
		event.bytes === undefined ? undefined : counted(event.bytes, "byte"),
		event.rule ? `rule ${event.rule}` : undefined,
		...(event.parts ?? []).map(({ rule }) => `rule ${rule}`),
		event.by === undefined ? undefined : `by ${event.by}`,
		event.worked_out ? "worked out now" : undefined,
	];
	const head = found.filter((word) => word !== undefined).join(", ");
	return [head, event.message, event.note, event.command]
		.filter((part) => part !== undefined && part !== "")
		.map((part) => oneLine(part as string, 200))
		.join(": ");
}
