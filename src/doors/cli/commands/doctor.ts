import { clean, diagnose } from "../../../process/doctor.js";
import { agrees, canAsk } from "../ask.js";
import { type CommandBody, EXIT, noWords } from "../command.js";
import { interruptible } from "../interruptible.js";
import { under } from "../wrap.js";

export const doctor: CommandBody = {
	name: "doctor",
	usage: "[--clean [--yes]]",
	options: {
		clean: { type: "boolean", help: "remove or end what was left behind, after asking" },
		yes: { type: "boolean", short: "y", help: "with --clean: do not ask" },
	},
	starts: true,
	teach: `
With --place it also says whether that place can be reached, and what it has. For a container one is made, and removed again.

Exit code: 0 when nothing is wrong, 1 when something needs attention, 130 when it was interrupted.

Examples
  holdfast doctor
  holdfast doctor --clean --yes
  holdfast doctor --place ssh://me@box`,
	async run(call) {
		noWords(call);
		const { values, out, runtime } = call;
		const opened = await runtime();
		const { checks, orphans } = await interruptible((signal) => diagnose(opened, signal), ["SIGINT", "SIGTERM", "SIGHUP"]);
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
