/** Arguments as the model wrote them, read as JSON. Never repaired: the model is told where they go wrong. */
const AROUND = 40;

export type ParsedArguments = { readonly value: unknown } | { readonly problem: string };

export function parseArguments(text: string): ParsedArguments {
	if (text.trim() === "") return { value: {} }; // a call without arguments, as some endpoints write it
	try {
		return { value: JSON.parse(text) };
	} catch (error) {
		return { problem: describe(text, error instanceof Error ? error.message : String(error)) };
	}
}

function describe(text: string, message: string): string {
	const at = positionIn(text, message);
	const before = text.slice(Math.max(0, at - AROUND), at);
	const behind = text.slice(at, at + AROUND);
	const why = message.replace(/ in JSON at position \d+.*| \(line \d+ column \d+\).*|, (?:"|\.\.\.).*is not valid JSON$/s, "");
	const where = behind === "" ? "at the end" : `before ${JSON.stringify(behind)}`;
	return `Error: the arguments are no JSON: ${why} at character ${at} of ${text.length}, ${where}, behind ${JSON.stringify(before)}. Nothing was done; send the call again with valid JSON.`;
}

/** The engine names the position in most of its messages. Where it does not, the shortest beginning that no text can complete is looked for. */
function positionIn(text: string, message: string): number {
	const named = /position (\d+)/.exec(message)?.[1];
	if (named !== undefined) return Math.min(Number(named), text.length);
	if (/end of JSON input|Unterminated/.test(message)) return text.length;
	const token = /Unexpected token '?(.+?)'?,/.exec(message)?.[1];
	const at = token === undefined ? -1 : text.indexOf(token);
	return at < 0 ? text.length : at;
}
