/** Checks about files, and what commands print, on their way to another machine. */
import { is } from "./flags.js";
import type { Found } from "./found.js";
import { valuesOf } from "./options.js";

const LOCAL = /(?:^|\/\/|@)(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[\w-]+\.(?:local|localhost|test|internal))(?:[:/]|$)/;

/** Uploads by programs that send to any address. Copies to a machine that is known by its login (`scp`, `rsync`) are not meant. */
export function uploads(command: Found): boolean {
	const texts = command.args.map(({ text }) => text);
	if (texts.some((text) => LOCAL.test(text))) return false;
	if (is(command, "curl")) {
		const files = valuesOf(command, /^(?:-[a-zA-Z]*T|--upload-file)$/, /^(?:--upload-file=|-T)(.+)$/s).map(({ text }) => text);
		return files.length > 0 || (command.input === null && command.upstream.length > 0 && texts.some((text) => /(?:^|=)@-$/.test(text)));
	}
	if (is(command, "wget")) return texts.some((text) => /^--(?:post|body)-file/.test(text));
	if (is(command, "nc", "ncat", "netcat", "socat"))
		return command.input === null && command.upstream.length > 0 && !texts.includes("-z") && !texts.some((text) => /^-\w*[lz]/.test(text));
	return is(command, "wormhole", "croc", "transfer") && texts[0] === "send";
}
