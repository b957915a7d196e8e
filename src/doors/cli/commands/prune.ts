import { HoldfastError } from "../../../base/errors.js";
import { type Command, EXIT } from "../command.js";

export const prune: Command = {
	name: "prune",
	usage: "[--older-than AGE] [--quota BYTES] [--dry-run]",
	summary: "forget processes that ended long ago, with their output",
	options: {
		"older-than": { type: "string", value: "AGE", help: "ended longer ago than this: 30m, 12h, 7d (default 7d)" },
		quota: { type: "string", value: "SIZE", help: "oldest first until the home is below this: 500M, 16G (default 16G)" },
		"dry-run": { type: "boolean", help: "say what would go, and leave it" },
	},
	teach: `
Running processes are never touched. A runtime does this by itself now and then.

Examples
  holdfast prune --older-than 1d
  holdfast prune --quota 2G --dry-run`,
	async run(call) {
		const { values, out } = call;
		const olderThanMs = values["older-than"] === undefined ? undefined : quantity(String(values["older-than"]), AGES, "--older-than", "30m, 12h or 7d");
		const quotaBytes = values.quota === undefined ? undefined : quantity(String(values.quota), SIZES, "--quota", "500M or 16G");
		const dryRun = values["dry-run"] === true;
		const result = (await call.runtime()).prune({
			...(olderThanMs === undefined ? {} : { olderThanMs }),
			...(quotaBytes === undefined ? {} : { quotaBytes }),
			dryRun,
		});
		if (out.json) out.data({ removed: result.removed, bytes: result.bytes, kept: result.kept, dry_run: dryRun });
		else
			out.line(
				`${dryRun ? "would remove" : "removed"} ${result.removed.length} ended processes with ${Math.round(result.bytes / 1024)} KiB of output; ${result.kept} stay`,
			);
		return EXIT.ok;
	},
};

const AGES: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Record<string, number> = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

function quantity(text: string, units: Record<string, number>, option: string, example: string): number {
	const match = /^(\d+(?:\.\d+)?)([a-zA-Z]?)$/.exec(text.trim());
	const unit = match ? (units[match[2] as string] ?? units[(match[2] as string).toUpperCase()]) : undefined;
	if (!match || unit === undefined) throw new HoldfastError("INVALID", `${option} takes for example ${example}, not "${text}"`);
	return Math.floor(Number(match[1]) * unit);
}
