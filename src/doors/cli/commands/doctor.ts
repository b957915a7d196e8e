import { counted } from "../../../base/index.js";
import { type Check, clean, diagnose, type Runtime } from "../../../process/index.js";
import { agrees, canAsk } from "../ask.js";
import { type CommandBody, EXIT, noWords } from "../command.js";
import { interruptible } from "../interruptible.js";
import { oneLine } from "../output.js";
import { under } from "../wrap.js";

const DAY_MS = 86_400_000;

/** Checks for tasks of MCP clients that are gone. A client may come back to its task, so only old ones need attention. */
async function clientsCheck(runtime: Runtime): Promise<Check> {
	const { abandoned, taskList } = await import("../tasks.js");
	const gone = abandoned(await taskList(runtime));
	if (gone.length === 0) return { name: "clients", state: "ok", found: "none has left anything and is gone" };
	const running = gone.reduce((sum, item) => sum + item.running, 0);
	const old = abandoned(gone, DAY_MS).length;
	const shown = gone.slice(0, 3).map(({ task }) => `"${oneLine(task, 80)}"`);
	return {
		name: "clients",
		state: old > 0 ? "warn" : "ok",
		found: `${counted(gone.length, "task is", "tasks are")} left by a client that is gone, ${old} of them for a day or longer, with ${counted(running, "process", "processes")}: ${shown.join(", ")}${gone.length > 3 ? ", …" : ""}`,
		advice: "`holdfast tasks` shows them, `holdfast end --gone --older-than 1d` ends those that are a day old",
	};
}

/** Conversations on the page, if the package for them is installed. */
async function partsCheck(runtime: Runtime): Promise<Check[]> {
	const { parts, problem } = await (await import("../parts.js")).findParts(runtime.home.root, () => {});
	if (problem) return [{ name: "page", state: "warn", found: problem }];
	return parts.map(({ label }) => ({ name: "page", state: "ok", found: `it shows terminals, and "${label}" of another package` }));
}

export const doctor: CommandBody = {
	name: "doctor",
	usage: "[--clean [--yes]]",
	options: {
		clean: { type: "boolean", help: "remove or end what was left behind, after asking" },
		yes: { type: "boolean", short: "y", help: "with --clean: do not ask" },
	},
	starts: true,
	teach: `
With --place it also says whether that place can be reached, and what it has. For Docker, creates a test container and removes it.

Exit code: 0 when nothing is wrong, 1 when something needs attention, 130 when it was interrupted.

Examples
  holdfast doctor
  holdfast doctor --clean --yes
  holdfast doctor --place ssh://me@box`,
	async run(call) {
		noWords(call);
		const { values, out, runtime } = call;
		const opened = await runtime();
		const { checks: found, orphans } = await interruptible((signal) => diagnose(opened, signal), ["SIGINT", "SIGTERM", "SIGHUP"]);
		const checks = [...found, await clientsCheck(opened), ...(await partsCheck(opened))];
		if (!out.json) {
			const show = (mark: string, name: string, text: string) => {
				for (const line of under(`${mark}  ${name.padEnd(12)} `, text, out.columns)) out.line(line);
			};
			for (const check of checks) {
				show(check.state === "ok" ? out.style("green", "ok  ") : out.style("yellow", check.state), check.name, check.found);
				if (check.advice) show("    ", "", check.advice);
			}
			for (const orphan of orphans) show(out.style("yellow", "left"), orphan.kind, `${orphan.what}${orphan.pids ? ` (${orphan.pids.join(", ")})` : ""}`);
			if (orphans.length === 0) show(out.style("green", "ok  "), "leftovers", "none");
		}
		let done: string[] = [];
		if (orphans.length > 0 && (values.clean || (!out.json && canAsk()))) {
			if (values.yes || (await agrees(`Clean up ${orphans.length} of these? [y/N] `))) done = clean(opened, orphans);
			for (const line of done) if (!out.json) out.line(line);
		}
		if (out.json) out.data({ checks, orphans, cleaned: done });
		return checks.every((check) => check.state === "ok") && (orphans.length === 0 || done.length > 0) ? EXIT.ok : EXIT.failed;
	},
};
