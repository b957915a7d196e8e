/** Checks that keep Holdfast's own things from the commands it runs: its processes, its questions, its rules and tokens. */
import path from "node:path";
import { readProc } from "../base/index.js";
import { mountsOf } from "./containers.js";
import { deletedTrees } from "./deleting.js";
import { arrivals, carried, does, LOOKERS } from "./effects.js";
import { hasFlag, is, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { fileWords, isWithin, mayBeWithin, namesOf } from "./paths.js";
import type { World } from "./scope.js";
import { SOME, type Word } from "./word.js";

const OWN_PROCESS = /(?:^|[\s/])(?:keeper\.sh|holdfast(?:\.js)?|doors\/cli\/main\.js)(?:\s|$)/;

/** /proc tells which processes are ours; for commands that kill by name the name is enough. */
export function killsHoldfast(command: FoundCommand, { looks }: World): boolean {
	const OWN = /holdfast|keeper\.sh/i;
	if (!is(command, "kill", "pkill", "killall", "killall5", "skill", "fuser", "systemctl", "service", "launchctl", "xkill")) return false;
	const texts = command.args.map(({ text }) => text);
	const means = (text: string) => OWN.test(text) || (text.length > 2 && "keeper.sh holdfast".includes(text.toLowerCase()));
	if (is(command, "systemctl", "service", "launchctl"))
		return texts.some((text) => OWN.test(text)) && texts.some((text) => /^(stop|kill|restart|disable|mask|unload|bootout|try-restart)$/.test(text));
	if (texts.some((text) => means(text) || text.includes("HOLDFAST_"))) return true;
	if (command.upstream.some((one) => one.args.some(({ text }) => means(text)))) return true;
	if (!is(command, "kill")) return false;
	const [first] = texts;
	if (texts.some((text) => text.endsWith(`${SOME}parent`))) return true; // of the shell: what keeps it
	const hasSignal = /^-/.test(first ?? "") && first !== "-1";
	const targets = hasSignal ? texts.slice(1) : texts;
	if (targets.some((text, at) => text === "-1" && (hasSignal || at > 0 || targets.length === 1))) return true;
	return targets.some((text) => /^-?\d+$/.test(text) && looks.at(isOwnProcess, text.replace("-", "")));
}

const isOwnProcess = (pid: string): boolean => OWN_PROCESS.test((readProc(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " "));

/** bash reads what it is to run on a descriptor of 10 or more: a program that writes there gives it a command that no rule has seen. */
const SHELL_INPUT = new RegExp(`^(?:/dev/fd|/proc/[^/]+(?:/task/[^/]+)?/fd)/(?:[1-9]\\d+|[^/]*${SOME}[^/]*)$`);

/** Whether it writes to the input of a shell, or asks where that is. */
export function typesIntoShell(command: FoundCommand): boolean {
	const names = (file: Word) =>
		[file.text, ...command.cwds.map((cwd) => (cwd === null ? "" : path.resolve(cwd, file.text)))].some((text) => SHELL_INPUT.test(text));
	return does(command, ["writes", "empties", "moves"], ({ file }) => names(file)) || (is(command, "readlink", "realpath") && command.args.some(names));
}

export function answersApproval(command: FoundCommand): boolean {
	const texts = command.args.map(({ text }) => decoded(text));
	if (command.code !== null && /\/approvals\/|\bapprovals\b[\s\S]*\banswer\b/.test(command.code) && !is(command, "sed", "awk")) return true;
	if (is(command, "nc", "ncat", "netcat", "socat", "telnet") && /\bP(?:OST|UT)\s+\S*\/approvals?\//.test(command.input ?? "")) return true;
	const cli =
		is(command, "holdfast") ||
		command.names.some((name) => name.startsWith("holdfast@")) ||
		texts.some((text) => /(?:^|\/)(?:holdfast(?:\.js|@.*)?|doors\/cli\/main\.js)$/s.test(text));
	if (cli) {
		if (texts.find((text) => !text.startsWith("-") && !/(?:^|\/)(?:holdfast|main)(?:\.js|@.*)?$/s.test(text)) === "serve") return true; // its link opens the page
		const at = texts.findIndex((text) => /^(approvals?|approve|deny)$/.test(text));
		if (at === -1) return false;
		return (
			texts[at] === "approve" ||
			texts[at] === "deny" ||
			texts.slice(at + 1).some((text) => !text.startsWith("-") && !/^(list|ls|show|help)$/.test(text)) ||
			texts.some((text) => /^--?(y|yes|once|always|approve|answer)/.test(text))
		);
	}
	return (
		is(command, "curl", "wget", "http", "https", "xh") &&
		texts.some((text) => /approvals?\/[^/]+|\/approvals?\b.*(once|always|answer)/.test(text)) &&
		texts.some(
			(text) =>
				/^(-X|--request|--data.*|--json|--form|--upload-file|POST|PUT|--post-(?:data|file).*|--method.*)$/.test(text) || /^-[a-zA-Z]*(?:[dFT]|XP)/.test(text),
		)
	);
}

/** Decodes a URL as a server would: `%61` is an a. */
const decoded = (text: string): string => text.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

const READERS = new Set(["cat", "head", "tail", "less", "more", "grep", "rg", "jq", "wc", "diff", "bat", "cmp", "md5sum", "sha256sum"]);

/** These programs print names, not the content of files. */
const TELLERS = new Set<string>([...LOOKERS, "echo", "find", "mkdir", "holdfast", "export"]);

export function editsPolicy(command: FoundCommand, world: World): boolean {
	const isPolicy = (place: string) =>
		isWithin(place, world.config) ||
		isWithin(place, world.state) || // answers, the audit, and what its processes and shells are told and have said
		/\/\.holdfast\/policy\.json$/.test(place) ||
		/\/\.holdfast$/.test(place) ||
		/\/\.config\/holdfast(?:\/|$)/.test(place);
	const isToken = (place: string) => isWithin(place, world.state) && /token|secret|\.key$/.test(path.basename(place));
	// A pattern names every path that it may match.
	const guarded = [world.config, world.state, path.join(world.cwd, ".holdfast", "policy.json")];
	const meant = (place: string) => guarded.find((dir) => mayBeWithin(place, dir)) ?? place;
	const places = (list: readonly Word[]) =>
		list.flatMap((one) => namesOf(one, command, world).flatMap((place) => (place === null ? [] : place.includes(SOME) ? [meant(place)] : [place])));
	if (places(command.writes).some((place) => isPolicy(place) || isToken(place))) return true;
	if (command.code !== null && /holdfast[/"', ]+policy|\.config\/holdfast|\.holdfast\b/.test(command.code)) {
		if (!is(command, "sed", "awk", "gawk", "mawk", "nawk") || hasFlag(command, "-i|--in-place")) return true;
		if (/(?:>\s*"[^"]*|(?:^|[\s;{}/\d$])w\s+\S*)(?:\.config\/holdfast|\.holdfast)/m.test(command.code)) return true; // `print > "f"`, `w f`
	}
	if (mountsOf(command).some(({ source }) => places([source]).some((place) => isPolicy(place) || isWithin(place, world.state)))) return true;
	const named = places(fileWords(command));
	if (named.some(isToken)) return true;
	if (is(command, "holdfast", "socat") && does(command, ["writes"], ({ file }) => places([file]).some(isPolicy))) return true;
	// A pattern, or all of it: the tokens are among that.
	const takesAll = (place: string) => place === world.state || (path.dirname(place) === world.state && path.basename(place).includes(SOME));
	if (!command.names.some((name) => TELLERS.has(name)) && named.some(takesAll)) return true;
	if (deletedTrees(command, world).some((place) => place !== null && (isWithin(world.config, place) || isWithin(world.state, place)))) return true;
	if (is(command, "mv") && places(carried(command).from).some((place) => isWithin(world.config, place) || isWithin(world.state, place))) return true;
	if (is(command, "cp", "mv", "ln", "install", "rsync") && places(arrivals(command)).some(isPolicy)) return true;
	const reads =
		command.names.some((name) => READERS.has(name) || TELLERS.has(name)) ||
		(is(command, "sed", "awk") && !hasFlag(command, "-i|--in-place")) ||
		(is(command, "git") && /^(add|commit|diff|log|show|status|blame)$/.test(words(command)[0]?.text ?? ""));
	const mentions = fileWords(command).some(({ text }) => /(?:^|\/)\.holdfast\/policy\.json$|\.config\/holdfast(?:\/|$)/.test(text));
	// The copy may be read from there, not put there.
	if (is(command, "cp", "rsync", "scp"))
		return places(hasFlag(command, "-t|--target-directory") ? fileWords(command) : words(command).slice(-1)).some(isPolicy);
	return !reads && command.names.length > 0 && !is(command, "holdfast") && (mentions || named.some(isPolicy));
}
