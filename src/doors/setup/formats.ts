/** The kinds of configuration files there are: read them, and change one entry in their text. */
import { type ParseError, parse as parseJson, printParseErrorCode } from "jsonc-parser";
import { removeJson, setJson } from "./json.js";
import { parseToml, removeToml, setToml } from "./toml.js";

export interface ConfigFormat {
	readonly name: string;
	/** Returns the content. Throws an error with the position of a mistake, without quoting the file: it may hold secrets. */
	parse(text: string): unknown;
	set(text: string, path: readonly string[], value: unknown): string;
	remove(text: string, path: readonly string[]): string;
}

/** The format for programs that would refuse a file with comments as a whole. */
export const strictJson: ConfigFormat = { name: "JSON", parse: json({ disallowComments: true }), set: setJson, remove: removeJson };

export const jsonWithComments: ConfigFormat = { name: "JSON with comments", parse: json({ allowTrailingComma: true }), set: setJson, remove: removeJson };

/** The format for Gemini CLI, which refuses all settings because of one superfluous comma. */
export const jsonWithoutTrailingCommas: ConfigFormat = { name: "JSON with comments", parse: json({}), set: setJson, remove: removeJson };

export const toml: ConfigFormat = {
	name: "TOML",
	parse(text) {
		try {
			return parseToml(text);
		} catch (error) {
			const { message, line } = error as Error & { line?: number };
			throw new Error(`line ${line}: ${(message.split("\n")[0] as string).replace("Invalid TOML document: ", "")}`, { cause: error });
		}
	},
	set: setToml,
	remove: removeToml,
};

/** An empty file is an empty object. */
function json(options: { disallowComments?: boolean; allowTrailingComma?: boolean }): ConfigFormat["parse"] {
	return (text) => {
		const errors: ParseError[] = [];
		const value: unknown = parseJson(text, errors, { ...options, allowEmptyContent: true });
		const [first] = errors;
		if (!first) return value ?? {};
		const lines = text.slice(0, first.offset).split("\n").length;
		if (/,(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*$/.test(text.slice(0, first.offset)) && /[}\]]/.test(text[first.offset] ?? ""))
			throw new Error(`line ${lines}: there is a comma before the ${text[first.offset]}, which this client refuses`);
		const words = printParseErrorCode(first.error)
			.replace(/([a-z])([A-Z])/g, "$1 $2")
			.toLowerCase();
		throw new Error(`line ${lines}: ${words}`);
	};
}
