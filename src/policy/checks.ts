/** What a rule can ask about a command that words, flags and paths do not say: `"is": "deletes-outside"`. */
import path from "node:path";
import { readProc } from "../base/proc.js";
import { dangerousCode, destroysData } from "./code.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { Found } from "./found.js";
import { changesKernel, changesMounts, changesNetwork } from "./machine.js";
import { foundBy } from "./output.js";
import { fileWords, isAtWork, isTemporary, isWithin, mayBeWithin, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { changesServices, forcePushes, publishes, rewritesHistory, shutsDown, takesDown } from "./tasks.js";
import { SOME, UNKNOWN, type Word, word } from "./word.js";

export type CheckName = keyof typeof CHECKS;

export const CHECKS = {
	"wipes-root": wipesRoot,
	"wipes-disk": wipesDisk,
	"fork-bomb": (command: Found) =>
		command.trait === "fork-bomb" ||
		(command.code !== null && /\bfork\b[\s\S]*\bfork\b|while\s*(?:\(?\s*(?:1|True|true)\s*\)?\s*:?)[\s\S]{0,20}fork/.test(command.code)),
	"kills-holdfast": killsHoldfast,
	"answers-approval": answersApproval,
	"edits-policy": editsPolicy,
	"deletes-outside": deletesOutside,
	"deletes-everything-here": deletesEverythingHere,
	"changes-system-permissions": changesSystemPermissions,
	"writes-system-files": writesSystemFiles,
	"runs-remote-code": (command: Found) => command.trait === "unknown-script" && command.upstream.some((one) => one.names.some((name) => FETCHERS.has(name))),
	"destroys-data": (command: Found) => destroysData(command),
	"reads-credentials": readsCredentials,
	"mass-kill": massKill,
	"dangerous-code": (command: Found) => command.code !== null && dangerousCode(command.names, command.code),
	"changes-crontab": (command: Found) => is(command, "crontab") && !hasFlag(command, "-l"),
	"changes-services": changesServices,
	"changes-network": changesNetwork,
	"changes-kernel": changesKernel,
	"changes-mounts": changesMounts,
	"force-pushes": forcePushes,
	"rewrites-history": rewritesHistory,
	publishes,
	"shuts-down": shutsDown,
	"takes-down": takesDown,
	"unknown-program": (command: Found) => command.trait === "unknown-program",
	"unknown-script": (command: Found) => command.trait === "unknown-script" && !isShellSetup(command),
	unreadable: (command: Found) => command.trait === "unreadable",
} satisfies Record<string, (command: Found, world: World) => boolean>;

const FETCHERS = new Set(["curl", "wget", "fetch", "http", "https", "nc", "ncat", "socat", "aria2c", "lynx"]);

/** `eval "$(ssh-agent -s)"`: programs whose output is made for this. */
const SETUP =
	/^(?:ssh-agent|pyenv|rbenv|nodenv|direnv|starship|zoxide|fnm|brew|opam|conda|dircolors|minikube|mise|keychain|luarocks|docker-machine|thefuck|gpg-agent|resize|lesspipe|register-python-argcomplete|kubectl|helm|gh|npm|pip3?|completion)$/;
const isShellSetup = (command: Found): boolean => command.upstream.length > 0 && command.upstream.every(({ names }) => names.some((name) => SETUP.test(name)));

/** What it deletes with everything below; null entries are not known. */
function deleted(command: Found, world: World): readonly (string | null)[] {
	const recursive = is(command, "rm") && (hasFlag(command, "-r|-R") || command.args.some(({ text }) => /^--r/.test(text))); // long options may be cut short
	if (recursive || is(command, "rimraf", "trash", "srm", "rmtree", "del-cli")) return words(command).flatMap((one) => placesOf(one, command, world));
	if (is(command, "find") && command.args.some(({ text }) => text === "-delete"))
		return foundBy(command).flatMap((root) => placesOf(word(root), command, world));
	if (is(command, "rsync") && command.args.some(({ text }) => /^--(delete|del)\b/.test(text))) {
		const target = words(command).at(-1);
		return target ? (/^[^/]+:/.test(target.text) ? [null] : placesOf(target, command, world)) : [];
	}
	if (is(command, "mv"))
		return words(command)
			.slice(0, -1)
			.flatMap((one) => placesOf(one, command, world))
			.filter((place) => place !== null && isTop(place, world));
	return [];
}

/** Directly in the root, or a home: nobody deletes these in the course of work. */
const isTop = (place: string, { home }: World): boolean =>
	place === "/" ||
	(path.dirname(place) === "/" && place !== "/tmp") ||
	place === home ||
	isWithin(home, place) ||
	/^\/(?:home|Users|usr|var|lib)\/[^/]+$/.test(place) ||
	place === "/private/etc";

const ALWAYS = /^\/(?:etc|usr|bin|sbin|lib\w*|boot|sys|proc|dev|run|var|root|home|Users|System|Library)?$/;

function wipesRoot(command: Found, world: World): boolean {
	// A directory that somebody works in (`/app`, `/workspace`) is theirs to empty; the root, a home and the system's are nobody's.
	const isBench = (place: string) => !command.remote && place === world.cwd && !isWithin(world.home, place) && !ALWAYS.test(place);
	const isWiped = (place: string | null) => place !== null && isTop(place, world) && !isTemporary(place, world) && !isBench(place);
	if (deleted(command, world).some(isWiped)) return true;
	const recursive = is(command, "chmod", "chown", "chgrp") && hasFlag(command, "-R|--recursive");
	return (
		recursive &&
		words(command)
			.slice(1)
			.some((one) => placesOf(one, command, world).includes("/"))
	);
}

const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|dm-|md|loop|mem|kmem|sr|\x01|r?disk)/;

function wipesDisk(command: Found, world: World): boolean {
	const isDisk = (one: Word) => placesOf(one, command, world).some((place) => place !== null && DISK.test(place));
	if (command.writes.some(isDisk)) return true;
	if (
		is(command, "tee", "shred", "wipefs", "blkdiscard", "badblocks", "sgdisk", "truncate") ||
		command.names.some((name) => /^(?:mkfs|mke2fs|mkswap|newfs)/.test(name))
	)
		return words(command).some(isDisk);
	if (is(command, "cp", "mv", "install", "cat")) return isDisk(words(command).at(-1) ?? word("")) && !is(command, "cat");
	if (is(command, "dd")) return command.args.some(({ text, glob }) => text.startsWith("of=") && isDisk({ text: text.slice(3), glob }));
	return false;
}

const OWN_PROCESS = /(?:^|[\s/])(?:keeper\.sh|holdfast|doors\/cli\/main\.js)(?:\s|$)/;

/** Which processes are ours is asked of /proc; a name is enough for those who kill by name. */
function killsHoldfast(command: Found): boolean {
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
	const targets = /^-/.test(first ?? "") && first !== "-1" ? texts.slice(1) : texts;
	if (targets.some((text, at) => text === "-1" && (at > 0 || targets.length === 1))) return true;
	return targets.some((text) => /^-?\d+$/.test(text) && OWN_PROCESS.test((readProc(`/proc/${text.replace("-", "")}/cmdline`) ?? "").replaceAll("\0", " ")));
}

function answersApproval(command: Found): boolean {
	const texts = command.args.map(({ text }) => text);
	if (command.code !== null && /\/approvals\/|\bapprovals\b[\s\S]*\banswer\b/.test(command.code) && !is(command, "sed", "awk")) return true;
	if (is(command, "nc", "ncat", "netcat", "socat", "telnet") && /\bP(?:OST|UT)\s+\S*\/approvals?\//.test(command.input ?? "")) return true;
	const cli =
		is(command, "holdfast") ||
		command.names.some((name) => name.startsWith("holdfast@")) ||
		texts.some((text) => /(?:^|\/)(?:holdfast(?:@.*)?|doors\/cli\/main\.js)$/s.test(text));
	if (cli) {
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
			(text) => /^(-X|--request|--data.*|--json|--form|--upload-file|POST|PUT|--post-data.*|--method.*)$/.test(text) || /^-[a-zA-Z]*(?:[dFT]|XP)/.test(text),
		)
	);
}

const READERS = new Set([
	"cat",
	"ls",
	"head",
	"tail",
	"less",
	"more",
	"grep",
	"rg",
	"jq",
	"stat",
	"wc",
	"diff",
	"file",
	"test",
	"[",
	"echo",
	"bat",
	"cmp",
	"md5sum",
	"sha256sum",
	"readlink",
	"realpath",
	"cd",
	"tree",
	"du",
]);

/** They tell of names, not of what is in a file. */
const LOOKERS = new Set([
	"ls",
	"stat",
	"test",
	"[",
	"echo",
	"cd",
	"pushd",
	"du",
	"df",
	"tree",
	"file",
	"readlink",
	"realpath",
	"find",
	"mkdir",
	"holdfast",
	"export",
]);

/** In Holdfast's home: what a person has answered, and what happened. */
const OWN_RECORDS = ["approvals", "audit"];

function editsPolicy(command: Found, world: World): boolean {
	const isPolicy = (place: string) =>
		isWithin(place, world.config) ||
		OWN_RECORDS.some((name) => isWithin(place, path.join(world.state, name))) ||
		/\/\.holdfast\/policy\.json$/.test(place) ||
		/\/\.holdfast$/.test(place) ||
		/\/\.config\/holdfast(?:\/|$)/.test(place);
	const isToken = (place: string) => isWithin(place, world.state) && /token|secret|\.key$/.test(path.basename(place));
	// What a pattern may find is what it names.
	const guarded = [world.config, ...OWN_RECORDS.map((name) => path.join(world.state, name)), path.join(world.cwd, ".holdfast", "policy.json")];
	const meant = (place: string) => guarded.find((dir) => mayBeWithin(place, dir)) ?? place;
	const places = (list: readonly Word[]) =>
		list.flatMap((one) =>
			placesOf(one, command, world).flatMap((place) =>
				place === null ? [] : (one.glob || command.links.length > 0) && place.includes(SOME) ? [meant(place)] : [place],
			),
		);
	if (places(command.writes).some((place) => isPolicy(place) || isToken(place))) return true;
	if (command.code !== null && /holdfast[/"', ]+policy|\.config\/holdfast|\.holdfast\b/.test(command.code)) {
		if (!is(command, "sed", "awk", "gawk", "mawk", "nawk") || hasFlag(command, "-i|--in-place")) return true;
		if (/(?:>\s*"[^"]*|(?:^|[\s;{}/\d$])w\s+\S*)(?:\.config\/holdfast|\.holdfast)/m.test(command.code)) return true; // `print > "f"`, `w f`
	}
	if (mountsOf(command).some(({ source }) => places([source]).some((place) => isPolicy(place) || isWithin(place, world.state)))) return true;
	const named = places(fileWords(command));
	if (named.some(isToken)) return true;
	// A pattern, or all of it: the tokens are among that.
	const takesAll = (place: string) => place === world.state || (path.dirname(place) === world.state && path.basename(place).includes(SOME));
	if (!command.names.some((name) => LOOKERS.has(name)) && named.some(takesAll)) return true;
	if (deleted(command, world).some((place) => place !== null && (isWithin(world.config, place) || isWithin(world.state, place)))) return true;
	if (is(command, "mv") && places(carried(command).from).some((place) => isWithin(world.config, place) || isWithin(world.state, place))) return true;
	if (command.names.some((name) => COPIERS.has(name)) && places(arrivals(command)).some(isPolicy)) return true;
	const reads =
		command.names.some((name) => READERS.has(name)) ||
		(is(command, "sed", "awk") && !hasFlag(command, "-i|--in-place")) ||
		(is(command, "git") && /^(add|commit|diff|log|show|status|blame)$/.test(words(command)[0]?.text ?? ""));
	const mentions = fileWords(command).some(({ text }) => /(?:^|\/)\.holdfast\/policy\.json$|\.config\/holdfast(?:\/|$)/.test(text));
	// The copy may be read from there, not put there.
	if (is(command, "cp", "rsync", "scp"))
		return places(hasFlag(command, "-t|--target-directory") ? fileWords(command) : words(command).slice(-1)).some(isPolicy);
	return !reads && command.names.length > 0 && !is(command, "holdfast") && (mentions || named.some(isPolicy));
}

/** What a copier takes, and where to: its last word, or that of `-t`. */
function carried(command: Found): { from: Word[]; to: Word | undefined } {
	const all = words(command);
	const at = command.args.findIndex(({ text }) => /^(?:-[a-zA-Z]*t|--target-directory(?:=.*)?)$/s.test(text));
	if (at === -1) return { from: all.slice(0, -1), to: all.at(-1) };
	const glued = /=(.*)$/s.exec(command.args[at]?.text ?? "")?.[1];
	const to = glued === undefined ? command.args[at + 1] : word(glued);
	return { from: all.filter((one) => one !== to), to };
}

/** In a directory things arrive under their own name: `cp -r holdfast ~/.config`. */
function arrivals(command: Found): Word[] {
	const { from, to } = carried(command);
	if (!to) return [];
	return from.slice(0, MOST_ARRIVALS).map((one) => ({ text: path.join(to.text, path.basename(one.text)), glob: to.glob || one.glob }));
}

const MOST_ARRIVALS = 64;

function deletesOutside(command: Found, world: World): boolean {
	return deleted(command, world).some((place) => {
		if (place === null) return true;
		if (isTemporary(place, world)) return false;
		return !isAtWork(place, command, world);
	});
}

/** All of the working directory, or its history. */
function deletesEverythingHere(command: Found, world: World): boolean {
	return deleted(command, world).some(
		(place) => place !== null && (isWithin(world.cwd, place) || place === path.join(world.cwd, SOME) || path.basename(place) === ".git"),
	);
}

const SYSTEM =
	/^\/(?:etc|usr|bin|sbin|lib\w*|boot|sys|proc|opt|root|var(?!\/(?:tmp|folders))|System|Library|dev(?!\/(?:null|zero|full|tty|stdin|stdout|stderr|fd|shm|pts|ptmx|u?random)\b))(?:\/|$)/;
const isSystem = (place: string | null, command: Found, world: World): boolean =>
	place !== null && (place === "/" || (SYSTEM.test(place) && !isAtWork(place, command, world) && !isWithin(place, world.home)));

function changesSystemPermissions(command: Found, world: World): boolean {
	if (!is(command, "chmod", "chown", "chgrp", "setfacl", "chattr", "setcap")) return false;
	const all = words(command);
	if (is(command, "chmod") && /^(?:[0-7]*[4-7][0-7]{3}|[ugoa,+=rwx]*\+[rwx]*s[rwx]*)$/.test(all[0]?.text ?? "") && !/^0[0-7]{3}$/.test(all[0]?.text ?? ""))
		return true;
	const recursive = hasFlag(command, "-R|--recursive");
	return all
		.slice(1)
		.some((one) =>
			placesOf(one, command, world).some(
				(place) => isSystem(place, command, world) || (recursive && (place === null || (!isAtWork(place, command, world) && !isTemporary(place, world)))),
			),
		);
}

const WRITERS = new Set(["tee", "rm", "rmdir", "unlink", "truncate", "touch", "mkdir", "shred", "chsh", "vi", "vim", "nano", "emacs", "ed", "patch"]);
const COPIERS = new Set(["cp", "mv", "ln", "install", "rsync"]);

function writesSystemFiles(command: Found, world: World): boolean {
	if (command.remote) return false;
	const some = (list: readonly Word[]) => list.some((one) => placesOf(one, command, world).some((place) => isSystem(place, command, world)));
	if (some(command.writes)) return true;
	const all = words(command);
	if (command.names.some((name) => WRITERS.has(name))) return some(all);
	if (command.names.some((name) => COPIERS.has(name))) return some(all.slice(-1)) || (is(command, "mv") && some(all));
	if (is(command, "sed", "perl") && hasFlag(command, "-i|--in-place")) return some(all.slice(1));
	if (is(command, "docker", "podman") && command.args.some(({ text }) => text === "--privileged")) return says(command, /^(?:run|create)\b/);
	const holdsHome = (one: Word) =>
		placesOf(one, command, world).some((place) => place !== null && (isWithin(world.home, place) || isWithin(world.config, place)));
	if (mountsOf(command).some(({ source, writable }) => writable && holdsHome(source))) return true;
	if (is(command, "tar", "bsdtar", "unzip") && extracts(command)) return some(after(command, /^(?:-[a-zA-Z]*C|--directory|-d)$/, /^(?:--directory=|-C)(.+)$/s));
	if (is(command, "dd")) return some(command.args.filter(({ text }) => text.startsWith("of=")).map(({ text }) => word(text.slice(3))));
	return false;
}

/** What a container is given of this machine. */
function mountsOf(command: Found): { source: Word; writable: boolean }[] {
	if (!is(command, "docker", "podman") || !says(command, /^(?:container )?(?:run|create)\b/)) return [];
	const volumes = after(command, /^(?:-v|--volume)$/, /^(?:--volume=|-v)([^=].*)$/s);
	const mounts = after(command, /^--mount$/, /^--mount=(.+)$/s);
	return [
		...volumes.map(({ text, glob }) => ({ source: { text: text.replace(/:.*$/s, ""), glob }, writable: !/:(?:\w+,)*ro\b/.test(text) })),
		...mounts.map(({ text, glob }) => ({
			source: { text: /(?:^|,)(?:source|src)=([^,]*)/.exec(text)?.[1] ?? UNKNOWN, glob },
			writable: !/(?:^|,)(?:ro|readonly)\b/.test(text),
		})),
	].filter(({ source }) => source.text.includes("/") || source.text.startsWith("."));
}

const extracts = (command: Found): boolean =>
	is(command, "unzip") ||
	/^-?[a-zA-Z]*x/.test(command.args[0]?.text ?? "") ||
	command.args.some(({ text }) => /^(?:-[a-zA-Z]*x[a-zA-Z]*|--extract|--get)$/.test(text));

/** The values of a flag, behind it or in the same word. */
const after = ({ args }: Found, flag: RegExp, glued: RegExp): Word[] =>
	args.flatMap((one, at) => {
		const value = glued.exec(one.text)?.[1];
		return value !== undefined ? [{ ...one, text: value }] : flag.test(one.text) && args[at + 1] ? [args[at + 1] as Word] : [];
	});

/** Names that a pattern may stand for. */
const KEYS = [
	".ssh/id_rsa",
	".ssh/id_ed25519",
	".aws/credentials",
	".git-credentials",
	".docker/config.json",
	".kube/config",
	".pgpass",
	".config/gh/hosts.yml",
];
const SYSTEM_KEYS = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers"];

const CREDENTIALS =
	/(?:\/\.ssh\/(?!.*\.pub$|known_hosts|config$|authorized_keys$)[^/]+|\/\.aws\/credentials|\/\.netrc|\/\.git-credentials|\/\.gnupg\/[^/]+|\/\.docker\/config\.json|\/\.kube\/config|\/\.npmrc|\/\.pypirc|\/\.config\/gh\/hosts\.yml|\/\.config\/gcloud\/.+|\/\.azure\/.+|\/\.cargo\/credentials(?:\.toml)?|\/\.pgpass|\/\.vault-token|\/etc\/(?:g?shadow|sudoers)|\/proc\/[^/]+\/environ|\/\.ssh|\/\.aws|\/\.gnupg)$/;
const HARMLESS_THERE = new Set([
	"ls",
	"stat",
	"test",
	"[",
	"ssh",
	"ssh-add",
	"ssh-keygen",
	"ssh-copy-id",
	"chmod",
	"mkdir",
	"cd",
	"echo",
	"printf",
	"git",
	"touch",
	"sftp",
]);

function readsCredentials(command: Found, world: World): boolean {
	const mentions = (text: string | null): boolean => text !== null && CREDENTIALS.test(text);
	const all = [...command.reads, ...command.writes, ...(command.names.some((name) => HARMLESS_THERE.has(name)) ? [] : fileWords(command))];
	const key = is(command, "scp", "rsync") ? command.args.findIndex(({ text }) => text === "-i") + 1 : 0;
	const isKey = (one: Word) => key > 0 && one === command.args[key];
	if (command.code !== null && /\.ssh\/id_|\.aws\/credentials|\/etc\/shadow|\.git-credentials/.test(command.code)) return true;
	const keys = [...KEYS.map((name) => path.join(world.home, name)), ...SYSTEM_KEYS];
	if (all.some((one) => one.glob && placesOf(one, command, world).some((place) => place?.includes(SOME) && keys.some((key) => mayBeWithin(place, key)))))
		return true;
	return all.some((one) => !isKey(one) && (mentions(`/${one.text.replace(/^.*[\0]/s, "")}`) || placesOf(one, command, world).some(mentions)));
}

const BROAD = /^(?:node|nodejs|python[\d.]*|bash|sh|zsh|java|ruby|perl|php|sshd?|systemd|init|tmux|screen|login|dbus-daemon|Xorg|gnome.*|\.|\.\*|\^?.?\*?|)$/;

function massKill(command: Found): boolean {
	const all = words(command).map(({ text }) => text);
	if (is(command, "killall5")) return true;
	if (is(command, "pkill", "killall", "skill"))
		return hasFlag(command, "-u|-U|--user|--uid|-G|-t|-v|--inverse") || all.some((text) => BROAD.test(text) || text.includes(UNKNOWN));
	if (!is(command, "kill")) return false;
	return command.args.some(
		({ text }, at) => (text === "-1" && (at > 0 || command.args.length === 1)) || (at > 0 && text === "1") || (text === "1" && command.args.length === 1),
	);
}
