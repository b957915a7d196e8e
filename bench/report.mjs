/** A row of the result: one number of Holdfast's beside the same number of something else, measured in the same run. */

/**
 * `baselines` are `{ name, value }` or `{ name, missing: why }`; the ratio is to the first. With `faster` it says how many
 * times as long the first takes. A target of unit "x" is about the ratio, any other about Holdfast's own value.
 */
export function row({ what, value, unit, baselines = [], target, note, faster }) {
	const first = baselines[0]?.value;
	const ratio = first ? (faster ? first / value : value / first) : undefined;
	const judged = target?.unit === "x" ? ratio : value;
	const met = target === undefined || judged === undefined ? undefined : target.relation === "<=" ? judged <= target.value : judged >= target.value;
	return { what, value, unit, baselines, ratio, faster, target, met, note };
}

export const atMost = (value, unit = "x") => ({ relation: "<=", value, unit });
export const atLeast = (value, unit = "x") => ({ relation: ">=", value, unit });

/** What cannot be measured on this machine. */
export const missingRow = (what, missing) => ({ what, missing });

/** A Markdown table, padded so that it reads well in a terminal too. */
export function table(rows) {
	const header = ["name", "measured", "Holdfast", "baseline", "ratio", "target", "met"];
	const cells = [header, ...rows.map((row) => cellsOf(row).map((cell) => cell.replaceAll("|", "\\|")))];
	const widths = header.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
	const line = (words) => `| ${words.map((word, column) => word.padEnd(widths[column])).join(" | ")} |`;
	return [line(header), line(widths.map((width) => "-".repeat(width))), ...cells.slice(1).map(line)].join("\n");
}

function cellsOf(row) {
	if (row.failed) return [row.name, `failed: ${row.failed}`, "", "", "", "", ""];
	if (row.missing) return [row.name, row.what, `not available: ${row.missing}`, "", "", "", ""];
	const baseline = row.baselines.map(({ name, value, missing }) => `${name} ${missing ? `not available: ${missing}` : amount(value, row.unit)}`).join("; ");
	const ratio = row.ratio === undefined ? "" : `${significant(row.ratio)}x${row.faster ? " faster" : ""}`;
	const target = row.target ? `${row.target.relation} ${amount(row.target.value, row.target.unit)}` : "";
	const met = row.met === undefined ? "" : row.met ? "yes" : "no";
	return [row.name, row.note ? `${row.what} (${row.note})` : row.what, amount(row.value, row.unit), baseline, ratio, target, met];
}

const amount = (value, unit) => `${significant(value)}${unit === "x" || unit === "%" ? "" : " "}${unit}`;

/** Three digits are more than a noisy machine can give. */
function significant(value) {
	if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
	return String(Number(value.toPrecision(3)));
}
