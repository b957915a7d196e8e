/** `config`: every setting and where it comes from. */
import { AgentError, nearNames } from "../../base/index.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";

export async function run(call: Call): Promise<number> {
	const { values, file } = settingsOf(call);
	const [wanted] = call.words;
	const shown = wanted === undefined ? values : values.filter(({ key }) => key === wanted || key.startsWith(`${wanted}.`) || key.startsWith(`${wanted}[`));
	if (wanted !== undefined && shown.length === 0) {
		const near = nearNames(wanted, [...new Set(values.flatMap(({ key }) => [key, key.split(".")[0] as string]))]);
		throw new AgentError(
			"INVALID",
			`there is no setting "${wanted}"; ${near.length > 0 ? `did you mean ${near.join(" or ")}?` : "`holdfast-agent config` lists them"}`,
		);
	}
	if (call.out.json) {
		call.out.data({ file, values: shown.map(({ value, ...one }) => (isHidden(one.key) ? { ...one, hidden: true } : { ...one, value })) });
		return 0;
	}
	call.out.note(`settings: ${file}`);
	const where = ({ from, where }: (typeof shown)[number]) => (from === "default" ? "default" : where.replace(file, "agent.json"));
	call.out.table(
		["KEY", "FROM", "VALUE"],
		shown.map((one) => [one.key, where(one), shownValue(one.key, one.value)]),
	);
	return 0;
}

/** A value for other programs may be a secret, and people paste this output into reports. */
const isHidden = (key: string): boolean => /\.(headers|env)\./.test(key) && !/\.(file|command)(\[|$)/.test(key);

function shownValue(key: string, value: unknown): string {
	if (value === undefined) return "(not set)";
	return isHidden(key) ? "(not shown)" : JSON.stringify(value);
}
