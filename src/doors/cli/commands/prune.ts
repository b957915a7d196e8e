import { counted, sizeText } from "../../../base/index.js";
import { pruneSeats } from "../../../shell/index.js";
import { type CommandBody, EXIT, noWords } from "../command.js";
import { ageOption, quotaOption } from "../quantity.js";

export const prune: CommandBody = {
	name: "prune",
	usage: "[--older-than AGE] [--quota SIZE] [--dry-run]",
	options: {
		"older-than": { type: "string", value: "AGE", help: "ended longer ago than this: 30s, 30m, 12h, 7d (default 7d)" },
		quota: { type: "string", value: "SIZE", help: "oldest first until the home is below this: 500M, 16G (default 16G)" },
		"dry-run": { type: "boolean", help: "say what would go, and leave it" },
	},
	teach: `
Running processes are never touched. A runtime does this by itself now and then.
How to reach a machine or container is forgotten too, when it was not used for that long and nothing kept here is, or was, there;
and so are the shells of tasks, once they have ended and the task was not used for that long.

Examples
  holdfast prune --older-than 1d
  holdfast prune --quota 2G --dry-run`,
	async run(call) {
		noWords(call);
		const { values, out } = call;
		const olderThanMs = ageOption(call, "older-than");
		const quotaBytes = quotaOption(call, "quota");
		const dryRun = values["dry-run"] === true;
		const runtime = await call.runtime();
		const age = olderThanMs === undefined ? {} : { olderThanMs };
		const result = runtime.prune({ ...age, ...(quotaBytes === undefined ? {} : { quotaBytes }), dryRun });
		const places = await runtime.prunePlaces({ ...age, dryRun });
		const shells = pruneSeats(runtime, { ...age, dryRun });
		if (out.json) out.data({ removed: result.removed, bytes: result.bytes, kept: result.kept, places, shells, dry_run: dryRun });
		else
			out.line(
				`${dryRun ? "would remove" : "removed"} ${counted(result.removed.length, "ended process", "ended processes")} with ${sizeText(result.bytes)} of output; ${counted(result.kept, "stays", "stay")}`,
			);
		if (!out.json && places.length > 0) out.line(`${dryRun ? "would forget" : "forgot"} where nothing is any more: ${places.join(", ")}`);
		if (!out.json && shells > 0) out.line(`${dryRun ? "would forget" : "forgot"} ${counted(shells, "shell")} that ended long ago`);
		return EXIT.ok;
	},
};
