/** Lines of the IRC protocol: reading them, and cutting text into what fits one. */

export interface IrcLine {
	readonly tags: Readonly<Record<string, string>>;
	/** `nick!user@host` of a person, or the name of a server. */
	readonly from: string;
	/** In capitals, or three digits. */
	readonly command: string;
	readonly params: readonly string[];
}

export function parseIrcLine(line: string): IrcLine {
	const [, tags = "", from = "", rest = ""] = /^(?:@(\S+) +)?(?::(\S+) +)?(.*)$/s.exec(line) ?? [];
	const at = rest.indexOf(" :");
	const words = (at < 0 ? rest : rest.slice(0, at)).split(" ").filter((word) => word !== "");
	const [command = "", ...params] = words;
	return { tags: tagsOf(tags), from, command: command.toUpperCase(), params: at < 0 ? params : [...params, rest.slice(at + 2)] };
}

const ESCAPES: Readonly<Record<string, string>> = { ":": ";", s: " ", r: "\r", n: "\n" };
function tagsOf(text: string): Record<string, string> {
	const pairs = text.split(";").filter((pair) => pair !== "");
	return Object.fromEntries(
		pairs.map((pair) => {
			const [key = "", ...value] = pair.split("=");
			return [key, value.join("=").replace(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char)];
		}),
	);
}

/** Cuts text into pieces of at most so many bytes, at line ends, then at spaces, never inside of a character. */
export function ircPieces(text: string, size: number): string[] {
	return text
		.split(/\r\n|[\r\n]/)
		.filter((line) => line.trim() !== "")
		.flatMap((line) => [...piecesOf(line.replaceAll("\0", "").trimEnd(), size)]);
}

function* piecesOf(line: string, size: number): Generator<string> {
	let rest = line;
	while (Buffer.byteLength(rest) > size) {
		const most = prefixOf(rest, size);
		const space = most.lastIndexOf(" ");
		const piece = space > 0 ? most.slice(0, space) : most;
		yield piece;
		rest = rest.slice(piece.length).trimStart();
	}
	if (rest !== "") yield rest;
}

/** The longest beginning of at most so many bytes that ends between characters. */
function prefixOf(text: string, size: number): string {
	let [bytes, end] = [0, 0];
	for (const char of text) {
		bytes += Buffer.byteLength(char);
		if (bytes > size) break;
		end += char.length;
	}
	return text.slice(0, end);
}

/** Names that IRC takes for the same: RFC 1459 has []\~ as capitals of {}|^. */
export const ircLower = (name: string): string =>
	name.toLowerCase().replace(/[[\]\\~]/g, (char) => ({ "[": "{", "]": "}", "\\": "|", "~": "^" })[char] ?? char);

/** Colours and other codes for display. */
export const withoutCodes = (text: string): string =>
	text.replace(/\u0003(?:\d{1,2}(?:,\d{1,2})?)?|[\u0002\u000f\u0011\u0016\u001d\u001e\u001f]|\u0004[0-9a-f]{6}/gi, "");
