/** What a columnar loader makes of rows: the type of every column, taken from the first row, and where another row does not fit it. */

type Type = "text" | "number" | "truth" | "nothing yet" | { readonly list: Type } | { readonly keys: Readonly<Record<string, Type>> };

/** Returns where rows differ; none: each fits the first. */
export function misfits(rows: readonly unknown[]): string[] {
	const [first, ...others] = rows.map((row, at) => typeOf(row, `row ${at}`));
	if (!first) return ["there is no row"];
	return [...first.problems, ...others.flatMap(({ type, problems }, at) => [...problems, ...differences(first.type, type, `row ${at + 1}`)])];
}

function typeOf(value: unknown, at: string): { type: Type; problems: string[] } {
	if (typeof value === "string") return { type: "text", problems: [] };
	if (typeof value === "number") return { type: "number", problems: [] };
	if (typeof value === "boolean") return { type: "truth", problems: [] };
	if (Array.isArray(value)) {
		const inner = value.map((one, index) => typeOf(one, `${at}[${index}]`));
		// the longest type of its elements stands for all; the others have to fit it
		const widest = inner.reduce<Type>(
			(best, { type }) => (JSON.stringify(type).length > JSON.stringify(best).length || best === "nothing yet" ? type : best),
			"nothing yet",
		);
		return { type: { list: widest }, problems: inner.flatMap(({ type, problems }, index) => [...problems, ...differences(widest, type, `${at}[${index}]`)]) };
	}
	if (typeof value !== "object" || value === null) return { type: "nothing yet", problems: [`${at} is ${value === null ? "null" : typeof value}`] };
	const inner = Object.entries(value).map(([key, one]) => [key, typeOf(one, `${at}.${key}`)] as const);
	return { type: { keys: Object.fromEntries(inner.map(([key, { type }]) => [key, type])) }, problems: inner.flatMap(([, { problems }]) => problems) };
}

function differences(wanted: Type, found: Type, at: string): string[] {
	if (found === "nothing yet") return [];
	if (wanted === "nothing yet") return [`${at} has a type, and the first row has none there`];
	if (typeof wanted === "string" || typeof found === "string")
		return wanted === found ? [] : [`${at} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`];
	if ("list" in wanted) return "list" in found ? differences(wanted.list, found.list, `${at}[]`) : [`${at} is no list`];
	if ("list" in found) return [`${at} is a list`];
	const keys = new Set([...Object.keys(wanted.keys), ...Object.keys(found.keys)]);
	return [...keys].flatMap((key) => {
		const [one, other] = [wanted.keys[key], found.keys[key]];
		return one && other ? differences(one, other, `${at}.${key}`) : [`${at}.${key} is ${one ? "missing" : "new"}`];
	});
}
