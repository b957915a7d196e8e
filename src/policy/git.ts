/** The subcommand of a git command, and the programs that git runs for it. */
import type { FoundCommand } from "./found.js";
import { after, behind, hidden, type Inner, scripts } from "./inner.js";
import type { Word } from "./word.js";

/** Returns the words of the subcommand, without the options before it (`-C dir`, `-c key=value`). */
export function gitWords(command: Pick<FoundCommand, "args">): string[] {
	const texts = command.args.map(({ text }) => text);
	let at = 0;
	while (/^-/.test(texts[at] ?? ""))
		at += /^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--super-prefix|--config-env)$/.test(texts[at] as string) ? 2 : 1;
	return texts.slice(at);
}

/** Settings that name a program, or a file with more of them. */
export const RUNS_PROGRAM =
	/^(?:core\.(?:hookspath|fsmonitor|sshcommand|askpass|gitproxy|alternaterefscommand|pager|editor)|(?:diff|merge)\..*(?:command|textconv|driver)|diff\.external|filter\..*\.(?:clean|smudge|process)|credential(?:\..*)?\.helper|gpg(?:\..*)?\.program|gpg\.ssh\.defaultkeycommand|trailer\..*\.(?:cmd|command)|sendemail\..*(?:smtpserver|cmd)|sendemail\.(?:smtpserver|tocmd|cccmd|headercmd)|sequence\.editor|interactive\.difffilter|pager\..*|(?:diff|merge)tool\..*\.(?:cmd|path)|(?:browser|man)\..*\.cmd|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack|vcs)|submodule\..*\.update|protocol\.(?:ext\.)?allow)$/i;

/** Aliases, pagers, helpers, what is done at each step of something. */
export function gitRuns(args: readonly Word[]): Inner[] {
	const [verb, ...rest] = gitWords({ args });
	const behindVerb = args.slice(args.length - rest.length);
	const settings = [...after(args, /^-c$/), ...(verb === "clone" ? [...after(args, /^--config$/), ...behind(args, /^--config=(.+)$/s)] : [])].flatMap(
		settingRuns,
	);
	const packs = [...after(args, /^(?:-u|--upload-pack|--receive-pack|--exec)$/), ...behind(args, /^--(?:upload-pack|receive-pack|exec)=(.+)$/s)];
	return [
		...hidden([...settings, ...behind(args, /^ext::(.+)$/s), ...behind(args, /^--exec-path=(.+)$/s)]),
		...(verb === "clone" || verb === "fetch" || verb === "push" || verb === "ls-remote" || verb === "pull" ? scripts(packs) : []),
		...(verb === "config" ? scripts([...behind(args, /^!(.*)$/s), ...after(args, RUNS_PROGRAM)]) : []),
		...(verb === "rebase" ? scripts([...after(args, /^(-x|--exec)$/), ...behind(args, /^--exec=(.*)$/s)]) : []),
		...(verb === "difftool" ? hidden([...after(args, /^(-x|--extcmd)$/), ...behind(args, /^--extcmd=(.*)$/s)]) : []),
		...(verb === "grep" ? hidden(behind(args, /^(?:-O|--open-files-in-pager=)(.+)$/s)) : []),
		...(verb === "submodule" ? eachSubmodule(behindVerb) : []),
		...(verb === "bisect" && rest[0] === "run" ? [{ argv: behindVerb.slice(1) }, ...(rest.length === 2 ? scripts([rest[1] as string]) : [])] : []),
	];
}

/** The shell text that a setting `key=value` runs. */
export function settingRuns(setting: string): string[] {
	const [, key = "", value = ""] = /^([^=]+)=(.*)$/s.exec(setting) ?? [];
	if (/^alias\./i.test(key)) return [value.startsWith("!") ? value.slice(1) : `git ${value}`];
	return RUNS_PROGRAM.test(key) && !(/^core\.hookspath$/i.test(key) && value.startsWith("/dev/")) && value !== "" ? [value.replace(/^!/, "")] : [];
}

function eachSubmodule(args: readonly Word[]): Inner[] {
	const at = args.findIndex(({ text }) => text === "foreach");
	const rest = at === -1 ? [] : args.slice(at + 1);
	const from = rest.findIndex(({ text }) => !text.startsWith("-"));
	return from === -1
		? []
		: scripts([
				rest
					.slice(from)
					.map(({ text }) => text)
					.join(" "),
			]);
}
