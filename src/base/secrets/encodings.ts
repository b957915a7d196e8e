/** How others write a text: what a known secret may look like in their output. */

const PERCENT = /[!'()*]/g; // encodeURIComponent leaves these, Python's quote does not

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/** In a URL: by JavaScript, by Python's quote (which leaves a slash) and quote_plus, by a form; with capitals or without. */
export function percentEncodings(given: string): string[] {
	const value = Buffer.from(given).toString(); // half a character would be an error
	const loose = encodeURIComponent(value);
	const strict = loose.replace(PERCENT, percent);
	const form = new URLSearchParams([["", value]]).toString().slice(1);
	const forms = [loose, strict, encodeURI(value), form].flatMap((text) => [text, text.replaceAll("%2F", "/"), text.replaceAll("%20", "+")]);
	return [...forms, ...forms.map((text) => text.replace(/%../g, (code) => code.toLowerCase()))];
}

const NAMED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** With quotes or without, and an apostrophe as each library writes it. */
export function escapeHtml(value: string): string[] {
	const tags = value.replace(/[&<>]/g, (char) => NAMED[char] as string);
	const quoted = value.replace(/[&<>"]/g, (char) => NAMED[char] as string);
	return [tags, ...["'", "&#x27;", "&#39;", "&#039;", "&apos;"].map((apostrophe) => quoted.replaceAll("'", apostrophe))];
}

const unicode = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns a value as JSON, as ASCII only, as Go and PHP write JSON, and in the single quotes of Python, JavaScript and a shell. */
export function escapesOf(value: string): string[] {
	const json = JSON.stringify(value).slice(1, -1);
	const single = json.replaceAll('\\"', '"').replaceAll("'", "\\'");
	const forms = [json, json.replace(/[<>&]/g, unicode), json.replaceAll("/", "\\/"), single, value.replaceAll("'", "'\\''")];
	return [...forms, ...forms.map((text) => text.replace(/[^\0-~]/g, unicode))];
}
