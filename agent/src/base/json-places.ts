/** Finds the line of each key of a JSON text, and of a mistake, which JSON.parse does not tell: for errors that name the line. */
export interface JsonPlaces {
	/** By path, such as `mcpServers.github.args[0]`: its line, as an editor counts. */
	readonly lines: ReadonlyMap<string, number>;
	/** Paths that are there twice; JSON.parse takes the last without a word. */
	readonly doubled: readonly string[];
	/** The mistake and its position; `lines` and `doubled` then cover only the text before it. */
	readonly mistake?: string;
}

class Mistake extends Error {}

const TOKEN =
	/\s*(?:("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])|([{}[\],:]))/y;
const DEEPEST = 100;

export function jsonPlaces(text: string): JsonPlaces {
	const lines = new Map<string, number>();
	const doubled: string[] = [];
	let at = 0; // where the token in hand begins
	let token = "";
	let line = 1;
	let counted = 0;
	try {
		next();
		value("", 0);
		if (token !== "") throw new Mistake("something follows the end of the object");
		return { lines, doubled };
	} catch (error) {
		if (!(error instanceof Mistake)) throw error;
		const before = text.slice(0, at).split("\n");
		return { lines, doubled, mistake: `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${error.message}` };
	}

	/** An empty token is the end of the text. */
	function next(): void {
		TOKEN.lastIndex = at + token.length;
		const found = TOKEN.exec(text);
		if (found) token = found[1] ?? found[2] ?? found[3] ?? "";
		at = found ? TOKEN.lastIndex - token.length : at + token.length + (/^\s*/.exec(text.slice(at + token.length))?.[0].length ?? 0);
		if (!found) {
			token = "";
			if (at < text.length) throw new Mistake(whyNot(text.slice(at)));
		}
		for (; counted < at; counted++) if (text[counted] === "\n") line++;
	}

	function value(path: string, depth: number): void {
		if (depth > DEEPEST) throw new Mistake("it is nested too deeply");
		if (token === "{") members(path, depth);
		else if (token === "[") elements(path, depth);
		else if (token === "" || /^[}\],:]$/.test(token))
			throw new Mistake(token === "" ? "it ends too early; is a } or ] missing?" : `a value is expected, not ${token}`);
		else next();
	}

	function members(path: string, depth: number): void {
		next();
		while (token !== "}") {
			if (!token.startsWith('"')) throw new Mistake(token === "" ? "it ends too early; is a } missing?" : `a key in quotes is expected, not ${token}`);
			const inner = joinPath(path, JSON.parse(token) as string);
			if (lines.has(inner)) doubled.push(inner);
			lines.set(inner, line);
			next();
			if (token !== ":") throw new Mistake("a colon is missing after the key");
			next();
			value(inner, depth + 1);
			separator("}");
		}
		next();
	}

	function elements(path: string, depth: number): void {
		next();
		for (let index = 0; token !== "]"; index++) {
			const inner = joinPath(path, index);
			lines.set(inner, line);
			value(inner, depth + 1);
			separator("]");
		}
		next();
	}

	function separator(end: string): void {
		if (token === end) return;
		if (token !== ",") throw new Mistake(token === "" ? `it ends too early; is a ${end} missing?` : `a comma or ${end} is missing`);
		next();
		if (token === end) throw new Mistake("remove the comma before it");
	}
}

/** The mistakes that people make. */
function whyNot(rest: string): string {
	if (/^(\/\/|\/\*|#)/.test(rest)) return "there are no comments in JSON";
	if (rest.startsWith("'")) return "JSON has double quotes only";
	if (rest.startsWith('"')) return /^"[^"\n]*"/.test(rest) ? "a backslash in it means nothing; write \\\\ for one" : "the quotes do not end on this line";
	return `${JSON.stringify(rest.slice(0, 12).split("\n")[0])} is not expected there`;
}

/** `mcpServers.github.args[0]` */
export const joinPath = (path: string, key: PropertyKey): string =>
	typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`;
export const pathText = (path: readonly PropertyKey[]): string => path.reduce<string>(joinPath, "");
