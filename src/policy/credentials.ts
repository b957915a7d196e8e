/** Checks about keys, passwords and tokens: commands that read, change or print them. */

import path from "node:path";
import { byName } from "../base/index.js";
import type { Effect } from "./effect.js";
import { does, effectsOf } from "./effects.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { below, homesOf } from "./homes.js";
import { isWithin, mayBeWithin, namesOf } from "./paths.js";
import type { World } from "./scope.js";
import { SHAPES } from "./shapes.js";
import { lendsKeys } from "./ssh.js";
import { SOME } from "./word.js";

/** Below the home of any user. `**` ends a directory that holds nothing else. */
const IN_HOME = [
	".ssh/**",
	".aws/**",
	".gnupg/**",
	".azure/**",
	".kube/config",
	".docker/config.json",
	".netrc",
	".git-credentials",
	".npmrc",
	".yarnrc.yml",
	".pypirc",
	".pgpass",
	".my.cnf",
	".mylogin.cnf",
	".s3cfg",
	".boto",
	".vault-token",
	".terraformrc",
	".terraform.d/credentials.tfrc.json",
	".cargo/credentials",
	".cargo/credentials.toml",
	".gem/credentials",
	".composer/auth.json",
	".m2/settings.xml",
	".password-store/**",
	".claude/.credentials.json",
	".codex/auth.json",
	".gemini/oauth_creds.json",
	".config/gh/hosts.yml",
	".config/glab-cli/config.yml",
	".config/hub",
	".config/gcloud/**",
	".config/rclone/rclone.conf",
	".config/op/**",
	".config/github-copilot/**",
	".config/containers/auth.json",
	".config/git/credentials",
	".config/google-chrome/**",
	".config/chromium/**",
	".mozilla/**",
	".local/share/keyrings/**",
	".local/share/opencode/auth.json",
	"Library/Keychains/**",
	...[".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history"],
] as const;

const OF_SYSTEM = [
	"/etc/shadow",
	"/etc/shadow-",
	"/etc/gshadow",
	"/etc/gshadow-",
	"/etc/sudoers",
	"/etc/sudoers.d/**",
	"/etc/ssl/private/**",
	"/run/secrets/**",
	"/var/run/secrets/**",
	"/etc/krb5.keytab",
	"/etc/security/opasswd",
];
const HOST_KEY = /^\/etc\/ssh\/ssh_host_\w+_key$/;
const MEMORY = /^\/proc\/(?:[^/]+\/(?:environ|mem)|kcore)$|^\/proc\/.*\/task\/.*\/environ$/s;

const KEY_FILE = /\/id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/;
/** A project's own is read in the course of work. */
const ENV_FILE = /\/\.env(?:\.(?!example|sample|template|dist)[\w-]+)?$/;

/** Files in such directories that hold no secret. */
const PUBLIC = /(?:\.pub|\/\.ssh\/(?:known_hosts(?:\.old)?|config(?:\.d\/.*)?|authorized_keys)|\/\.aws\/config)$/;
/** New keys of hosts are taken down in the course of work. */
const PUBLIC_TO_WRITE = /(?:\.pub|\/\.ssh\/known_hosts(?:\.old)?)$/;

/** The directory above such a directory may be the home of a user, wherever it is. */
const LIKE_HOME = /^(.*?)\/\.(?:ssh|aws|gnupg|azure|kube|docker|config|claude|codex|gemini|password-store)(?:\/|$)/s;

export function touchesCredentials(command: FoundCommand, world: World): boolean {
	if (command.names.some((name) => printsSecret(name, command)) || sendsSecrets(command)) return true;
	if (lendsKeys(command) || command.args.some(({ text }) => METADATA.test(text))) return true;
	if (does(command, ["looks", "uses", "reads", "writes"], ({ file }) => AGENT_SOCKET.test(file.text))) return true;
	if (command.code !== null && codeNames(command.code)) return true;
	const isSecret = (effect: Effect, isPublic: RegExp) =>
		placesFor(effect, command, world).some((place) => !isPublic.test(place) && isCredential(place, effect, world));
	const hosts = (effect: Effect) => effect.replaces === "perhaps" && /(?:^|\/)\.ssh\/known_hosts$/.test(effect.file.text); // all others are lost
	return (
		does(command, ["writes"], hosts) ||
		does(command, ["reads", "moves"], (effect) => isSecret(effect, PUBLIC)) ||
		does(command, ["writes", "empties", "deletes"], (effect) => isSecret(effect, PUBLIC_TO_WRITE))
	);
}

/** The socket of an ssh agent: a program that has it can use the keys of another login. */
const AGENT_SOCKET = /^\/tmp\/ssh-[^/]*(?:\/.*)?$/s;

/** Returns the paths that the file of an effect may have. If part of its path is unknown, the end may still tell. */
function placesFor({ file }: Effect, command: FoundCommand, world: World): string[] {
	if (file.text.length > LONGEST) return [];
	const known = namesOf(file, command, world).filter((place) => place !== null);
	if (known.length > 0) return known;
	if (file.text.startsWith("/proc/")) return [file.text.replace(/\0[^/]*/g, SOME)];
	const end = /(?:^|[/\0])(\.[^\0]*)$/s.exec(file.text)?.[1];
	return end === undefined ? [] : [path.join(world.home, end)];
}

const LONGEST = 4096;

function isCredential(place: string, { deed, file, tree }: Effect, world: World): boolean {
	if (MEMORY.test(place) || HOST_KEY.test(place) || KEY_FILE.test(place)) return true;
	if (ENV_FILE.test(place) && !isWithin(place, world.cwd) && deed === "reads") return true;
	if (tree && deed === "reads" && isWithin(world.state, place) && !isWithin(world.cwd, place)) return true; // with the token of the page
	const isPattern = file.glob && place.includes(SOME);
	const fits = (root: string, target: string): boolean => {
		const all = target.endsWith("/**");
		const name = all ? target.slice(0, -3) : target;
		if (isWithin(place, name)) return all ? place !== name || deed !== "looks" : true;
		if (isPattern) return !/rc$/.test(name) && mayBeWithin(place, name); // `grep alias ~/.*rc` is about shells
		return tree && isWithin(name, place) && isWithin(root, place); // a whole home, with what is in it
	};
	const like = LIKE_HOME.exec(place)?.[1];
	const homes = like === undefined ? homesOf(place, world) : [...homesOf(place, world), like];
	return OF_SYSTEM.some((target) => fits("/", target)) || homes.some((home) => below(home, IN_HOME).some((target) => fits(home, target)));
}

/** The addresses at which machines of a cloud get their keys. */
const METADATA = /^(?:https?:\/\/)?(?:169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200)(?:[/:]|$)/;

const SENDERS =
	/^(?:curl|wget|nc|ncat|netcat|socat|telnet|openssl|ssh|scp|sftp|ftp|rsync|dig|host|nslookup|tftp|lftp|smbclient|http|https|xh|gh|glab|git|aws|gsutil|rclone|wormhole|croc|mail|sendmail|mutt)$/;

/** The whole environment, or a file of it, on its way to another machine. */
function sendsSecrets(command: FoundCommand): boolean {
	const wraps = command.names.some((name) => SHAPES[name] !== undefined); // its redirections are those of the program behind it
	if (![...command.names, ...(wraps ? command.args.map(({ text }) => text) : [])].some((name) => SENDERS.test(name))) return false;
	const isEnv = (one: FoundCommand) =>
		(is(one, "env", "printenv", "export", "declare", "set") && words(one).every(({ text }) => is(one, "printenv") || text === "-p")) ||
		effectsOf(one).some(({ deed, file }) => deed === "reads" && ENV_FILE.test(`/${file.text}`));
	if (command.upstream.some(isEnv)) return true;
	const put = `${command.input ?? ""}\n${command.args.map(({ text }) => text).join("\n")}`.matchAll(/^\s*m?put\s+(\S+)/gm);
	if ([...put].some((match) => ENV_FILE.test(`/${match[1]}`))) return true;
	const given = [...command.args, ...command.reads].map(({ text }) => text.replace(/^.*[@=]|^FILE:/s, ""));
	return !is(command, "git") && given.some((text) => ENV_FILE.test(`/${text}`));
}

/** Programs that print one when they are asked. */
const PRINTERS = byName<RegExp>({
	gh: /^auth (?:token|login|logout|refresh|switch|setup-git)\b/,
	glab: /^auth (?:token|login|logout)\b/,
	keyctl: /^(?!(?:show|r?list|r?describe|search|supports|id|security|get_persistent|help)\b)\S/,
	"kwallet-query": /^/,
	"gnome-keyring-daemon": /^/,
	sops: /^(?:decrypt|edit|exec-env|exec-file|rotate)\b/,
	"ansible-vault": /^(?:view|decrypt|edit|rekey)\b/,
	"systemd-creds": /^(?:decrypt|cat)\b/,
	"systemd-ask-password": /^/,
	aws: /^(?:configure set|configure (?:get \S*(?:secret|token|key)|export-credentials)|sts (?:get-session-token|assume-role)|ecr get-login-password|secretsmanager get-secret-value)\b/,
	gcloud: /\bprint-(?:access|identity)-token\b|^secrets versions access\b/,
	az: /^(?:account get-access-token|keyvault secret show)\b/,
	npm: /^(?:token\b|config get \S*(?:_auth|token))/i,
	heroku: /^auth:token\b/,
	fly: /^auth token\b/,
	flyctl: /^auth token\b/,
	pass: /^(?:show\b|(?!ls\b|list\b|find\b|search\b|grep\b|git\b|help\b|version\b|init\b|generate\b|insert\b)\S)/,
	op: /^(?:read|item get|document get)\b/,
	bw: /^(?:get|list|export)\b/,
	vault: /^(?:kv get|read|print token|token lookup)\b/,
	doppler: /^secrets\b/,
	"secret-tool": /^(?:lookup|search|clear)\b/,
	security: /^(?:(?:find|delete)-(?:generic|internet)-password|dump-keychain|delete-keychain|export)\b/,
	keyring: /^get\b/,
	getent: /^g?shadow\b/,
	"wl-paste": /^/,
	pbpaste: /^/,
	git: /^credential(?:-\S+)? (?:fill|get)\b|^credential fill\b/,
});

function printsSecret(name: string, command: FoundCommand): boolean {
	if (PRINTERS[name] !== undefined) {
		if (says(command, PRINTERS[name])) return true;
	}
	if (/^docker-credential-/.test(name)) return says(command, /^(?:get|list)\b/);
	switch (name) {
		case "xclip":
		case "xsel":
			return command.args.some(({ text }) => /^(?:-o|-out|--output)$/.test(text));
		case "sops":
			return hasFlag(command, "-d|--decrypt");
		case "age":
		case "rage":
			return hasFlag(command, "-d|--decrypt");
		case "klist":
			return hasFlag(command, "-K");
		case "pk12util":
			return hasFlag(command, "-o");
		case "git":
			return (
				says(command, /^add\b/) && hasFlag(command, "-f|--force") && words(command).some(({ text }) => ENV_FILE.test(`/${text}`) || KEY_FILE.test(`/${text}`))
			);
		case "ssh-copy-id":
			return true;
		case "ssh-add":
			return hasFlag(command, "-D|-d|-x|-X");
		case "ps":
			return /^[a-zA-Z]*e[a-zA-Z]*$/.test(command.args[0]?.text ?? ""); // without a dash: with the environment
		case "docker":
		case "podman":
			return says(command, /^(?:container )?inspect\b/) && command.args.some(({ text }) => /\.Env\b/.test(text));
		case "dbus-send":
		case "gdbus":
		case "busctl":
			return command.args.some(({ text }) => /freedesktop\.secrets/i.test(text));
		case "gh":
		case "glab":
			return says(command, /^auth status\b/) && hasFlag(command, "-t|--show-token");
		case "kubectl":
		case "oc":
			return (
				(says(command, /^get secrets?\b/) && command.args.some(({ text }) => /^(?:-o|--output)(?:=?(?:y|j|go-|c)|$)/.test(text))) ||
				(says(command, /^config view\b/) && hasFlag(command, "--raw"))
			);
		case "gpg":
			return command.args.some(({ text }) => /^--(?:export-secret-(?:sub)?keys?|delete-secret-keys?|delete-secret-and-public-keys?)$/.test(text));
		default:
			return false;
	}
}

/** A path of a key in code of another language. */
const IN_CODE =
	/\.ssh\/(?:id_|authorized_keys|config\b)|\.aws\/credentials|\/etc\/g?shadow\b|\.git-credentials|\.netrc\b|\.gnupg\/|\.kube\/config|\.docker\/config\.json|\.claude\/\.credentials|\.codex\/auth|\.config\/gh\/hosts|\.pgpass|\.vault-token|\.npmrc|\.pypirc|\/proc\/[^"']*\/environ|\.mozilla\/|google-chrome\//;
const SENDS_ENV =
	/\b(?:requests|urllib|http|fetch|dns|socket|axios|file_get_contents|Net::HTTP|LWP)\b[\s\S]*(?:\bos\.environ\b(?!\s*(?:\[|\.get))|\bprocess\.env\b|\bgetenv\(\))|https?:\/\/[\s\S]*%ENV\b|%ENV\b[\s\S]*https?:\/\//;
const codeNames = (code: string): boolean => IN_CODE.test(code) || SENDS_ENV.test(code);
