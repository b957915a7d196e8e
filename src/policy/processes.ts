/** Checks about signals to processes that are not the task's own. */
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { valuesOf } from "./options.js";
import { SOME, UNKNOWN } from "./word.js";

/** Names that many programs share, or that belong to the system or the desktop. */
const BROAD =
	/^(?:node|nodejs|python[\d.]*|bash|sh|zsh|fish|java|ruby|perl|php|deno|bun|sshd?|systemd.*|init|tmux.*|screen|login|dbus.*|Xorg|Xwayland|gnome.*|kwin.*|plasma.*|gdm|sddm|lightdm|dockerd?|containerd.*|kubelet|cron|crond|rsyslogd|NetworkManager|code|cursor|claude|codex|firefox.*|chrom(?:e|ium).*|google-chrome.*|slack|thunderbird|agetty|getty|server|\.|\.\*|\^?.?\*?|)$/i;

export function massKill(command: FoundCommand): boolean {
	if (is(command, "killall5", "reptyr", "pm2") && (!is(command, "pm2") || says(command, /^(?:kill|delete all|stop all)\b/))) return true;
	if (is(command, "gdb", "lldb", "strace", "ltrace", "prlimit")) return command.args.some(({ text }) => /^(?:-p|--pid|--attach-pid|attach)(?:=|$)/.test(text)); // attaches to one that runs
	if (is(command, "holdfast")) return (says(command, /^end\b/) && hasFlag(command, "--task")) || (says(command, /^kill\b/) && hasFlag(command, "--all")); // those of other tasks
	if (is(command, "renice", "ionice"))
		return hasFlag(command, "-u|-g|-P|--user|--uid|--pgrp") || command.args.some(({ text }) => text.endsWith(`${SOME}parent`));
	if (is(command, "tmux")) return says(command, /^(?:kill-server|kill-session -a|respawn-pane|pipe-pane)\b/);
	if (is(command, "screen")) return command.args.some(({ text }) => text === "quit");
	if (is(command, "pkill", "killall", "skill", "killproc")) return byName(command);
	if (is(command, "fuser"))
		return hasFlag(command, "-k|--kill") && (hasFlag(command, "-m|-M|--mount|-c") || words(command).some(({ text }) => text.startsWith("/")));
	if (!is(command, "kill")) return false;
	const targets = command.args.filter(({ text }, at) => !(at === 0 && text.startsWith("-") && command.args.length > 1));
	if (targets.some(({ text }) => text === "1" || text === "-1" || text === "-0")) return true;
	if (command.upstream.length === 0) return false;
	if (targets.some(({ text }) => text.includes(UNKNOWN)) && isBroad(command.upstream)) return true;
	return targets.some(({ text }) => text.includes(UNKNOWN) || text.includes(SOME)) && command.upstream.some(countsPids);
}

function byName(command: FoundCommand): boolean {
	if (hasFlag(command, "-u|-U|--user|--uid|-G|-t|-v|--inverse|-s|--session|-P") && !is(command, "killall")) return true;
	if (is(command, "killall") && hasFlag(command, "-u|--user|-r|--regexp|-o|-y")) return true;
	return names(command).some((text) => BROAD.test(text) || text.includes(UNKNOWN));
}

const names = (command: FoundCommand): string[] => words(command).map(({ text }) => text.replace(/^\^|\$$/g, ""));

/** Returns whether a command yields numbers in sequence, or the list of /proc. */
const countsPids = (one: FoundCommand): boolean =>
	is(one, "seq") || (is(one, "ls", "find", "echo", "printf", "fd") && one.args.some(({ text }) => /^\/proc(?:\/|$)/.test(text)));

/** Returns whether the pids come from a name that is not the task's own, or from no name at all. */
function isBroad(upstream: readonly FoundCommand[]): boolean {
	const finders = upstream.filter((one) => is(one, "pgrep", "pidof"));
	if (finders.length > 0) return finders.some((one) => byName(one) && !hasFlag(one, "-P"));
	if (!upstream.some((one) => is(one, "ps"))) return false; // a port (`lsof -ti :3000`), a file with a pid
	if (upstream.some((one) => is(one, "ps") && valuesOf(one, /^-[pC]$|^--ppid$/, /^--ppid=(.+)$/).some(({ text }) => !BROAD.test(text)))) return false;
	const filters = upstream.filter((one) => is(one, "grep", "egrep", "rg", "awk", "gawk") && !hasFlag(one, "-v"));
	const patterns = filters.map((one) => (is(one, "awk", "gawk") ? (/\/((?:\\.|[^/])+)\//.exec(one.args[0]?.text ?? "")?.[1] ?? "") : (names(one)[0] ?? "")));
	const named = patterns.filter((pattern) => pattern !== "");
	return named.length === 0 || named.every((pattern) => BROAD.test(pattern.replace(/^\[(.)\]/, "$1")));
}
