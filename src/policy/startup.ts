/** Checks about what runs by itself later: start-up files, hooks, jobs, programs in the search path, settings of agents. */
import fs from "node:fs";
import type { Effect } from "./effect.js";
import { carried, does } from "./effects.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { gitWords, RUNS_PROGRAM } from "./git.js";
import { below, homesOf } from "./homes.js";
import { outputOf } from "./output.js";
import { isWithin, mayBeWithin, namesOf, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { SOME } from "./word.js";

/** Below the home of any user. */
const IN_HOME = [
	...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bashrc.d", ".profile", ".inputrc"],
	...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".oh-my-zsh", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".config/fish"],
	...[".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment", ".config/environment.d", ".config/autostart", ".config/autostart-scripts"],
	...[".config/plasma-workspace/env", ".config/sway/config", ".config/i3/config", ".config/hypr"],
	...[".config/systemd/user", ".local/share/systemd/user", ".config/upstart", "Library/LaunchAgents"],
	...[".local/bin", "bin", ".cargo/bin", "go/bin"],
	...[".nvm", ".pyenv/shims", ".rbenv/shims", ".volta/bin", ".bun/bin", ".deno/bin", ".local/share/applications", ".cargo/config.toml", ".cargo/config"],
	...[".gitconfig", ".config/git"],
	...[".vimrc", ".vim", ".config/nvim/init.vim", ".config/nvim/init.lua", ".emacs", ".emacs.d/init.el", ".tmux.conf", ".config/tmux/tmux.conf", ".screenrc"],
	...[".gdbinit", ".pythonrc", ".pythonrc.py", ".Rprofile", ".irbrc", ".pryrc", ".psqlrc", ".sqliterc", ".lldbinit"],
	...[".config/direnv", ".direnvrc", ".config/mise", ".config/pip/pip.conf", ".config/code/user", ".config/Code/User/settings.json"],
	...[".ssh/rc", ".ssh/config", ".ssh/environment"],
	...[".claude.json", ".mcp.json", ".claude", ".codex", ".gemini", ".cursor", ".config/opencode", ".config/claude", ".config/Claude", ".continue"],
	...[".aider.conf.yml", ".config/goose", ".codeium", ".windsurf", ".copilot"],
];
/** State of such programs that is no setting. */
const NO_SETTING = /\/\.(?:claude|codex|gemini|cursor)\/(?:projects|todos|logs?|sessions|history|cache|tmp|shell-snapshots|plans)(?:\/|$)/;

/** Wherever they are: hooks of a repository, settings that an agent takes from a project, jobs. */
const ANYWHERE =
	/\/\.git\/(?:hooks(?:\/|$)|config$|info\/attributes$)|\/hooks\/(?:pre|post)-(?:commit|push|receive|checkout|merge|rewrite|applypatch|auto-gc)$|\/\.claude\/(?:settings(?:\.local)?\.json|hooks\/.*)$|\/holdfast\/dist\/|^\/var\/spool\/cron(?:\/|$)|\/site-packages\/(?:[^/]+\.pth|sitecustomize\.py|usercustomize\.py)$/;

export function changesStartup(command: FoundCommand, world: World): boolean {
	if (command.remote) return false;
	if (does(command, ["writes", "empties", "deletes", "moves"], (effect) => runsLater(effect, command, world))) return true;
	if (is(command, "direnv") && says(command, /^allow\b/))
		return words(command)
			.slice(1)
			.some((one) => placesOf(one, command, world).some((place) => place === null || !isWithin(place, world.cwd)));
	if (does(command, ["unpacks"], ({ file }) => namesOf(file, command, world).some((place) => place !== null && mayHoldStartup(place, world)))) return true;
	if (takesPlaceAbove(command, world)) return true;
	if (opensWithFolder(command) || configuresDesktop(command)) return true;
	if (configuresGit(command) || configuresAgent(command)) return true;
	return command.code !== null && WRITES_IN_CODE.test(command.code) && CODE_NAMES.test(command.code);
}

/** An archive may hold any of them: what is unpacked above one, or in one. Not where the work is. */
function mayHoldStartup(place: string, world: World): boolean {
	if (isWithin(place, world.cwd) && place !== world.home) return false;
	return [world.home, ...homesOf(place, world)].some((home) => below(home, IN_HOME).some((target) => isWithin(place, target) || isWithin(target, place)));
}

/** A directory, or a link to one, that stands from then on where such files are looked for: `ln -sfn conf ~/.config`. In a directory that is there, it is one more name. */
function takesPlaceAbove(command: FoundCommand, world: World): boolean {
	if (!is(command, "ln", "mv") && !(is(command, "cp") && hasFlag(command, "-r|-R|-a|--recursive|--archive|-s|--symbolic-link"))) return false;
	const { to } = carried(command);
	if (!to || to.text.endsWith("/") || hasFlag(command, "-t|--target-directory")) return false;
	const replaces = hasFlag(command, "-T|--no-target-directory") || (is(command, "ln") && hasFlag(command, "-n|--no-dereference"));
	const isThere = (place: string) => place === world.home || (world.local && world.looks.at(fs.existsSync, `${place}/.`));
	return namesOf(to, command, world).some(
		(place) =>
			place !== null && homesOf(place, world).some((home) => below(home, IN_HOME).some((target) => isWithin(target, place))) && (replaces || !isThere(place)),
	);
}

function runsLater(effect: Effect, command: FoundCommand, world: World): boolean {
	return namesOf(effect.file, command, world).some((place) => {
		if (place === null)
			return /\/holdfast\/dist\/|\/policy\/decide\.js$|(?:^|\/)\.(?:bashrc|bash_profile|zshrc|profile|zshenv)$|\/(?:user|site)customize\.py$|site-packages\/[^/]+\.pth$/.test(
				effect.file.text,
			);
		if (/\.sample$/.test(place) || NO_SETTING.test(place)) return false;
		if (ANYWHERE.test(place)) return true;
		const isPattern = effect.file.glob && place.includes(SOME);
		return homesOf(place, world).some((home) => below(home, IN_HOME).some((target) => isWithin(place, target) || (isPattern && mayBeWithin(place, target))));
	});
}

/** A task of an editor that runs when the project is opened. */
const opensWithFolder = (command: FoundCommand): boolean =>
	command.writes.some(({ text }) => /(?:^|\/)\.vscode\/tasks\.json$/.test(text)) && /"runOn"\s*:\s*"folderOpen"/.test(outputOf(command) ?? "");

/** Settings of the desktop: keys, programs for kinds of files, hooks of a terminal. */
function configuresDesktop(command: FoundCommand): boolean {
	if (is(command, "gsettings", "dconf")) return says(command, /^(?:set|write|load|reset|reset-recursively)\b/);
	if (is(command, "xdg-mime")) return says(command, /^(?:default|install)\b/);
	if (is(command, "xdg-settings")) return says(command, /^set\b/);
	if (is(command, "kwriteconfig5", "kwriteconfig6")) return true;
	if (is(command, "defaults")) return says(command, /^(?:write|delete|import)\b/);
	if (is(command, "pm2")) return says(command, /^(?:startup|save)\b/);
	return is(command, "tmux") && says(command, /\bset-hook\b/);
}

const WRITES_IN_CODE =
	/\bopen\s*\([^)]*,\s*["'](?:[rwab+]*[wa+][rwab+]*|>>?)["']|write_(?:text|bytes)|(?:write|append)File|File\.(?:write|open)|file_put_contents|symlink|copy(?:2|file|File)?\b|rename|>>?\s*["']/;
const CODE_NAMES =
	/\.bashrc|\.bash_profile|\.zshrc|\.zshenv|(?:\/|["'])\.profile\b|\.config\/(?:systemd\/user|autostart|fish|environment\.d)|\.local\/bin\/|\.git\/hooks|\.gitconfig|\.claude\.json|\.claude\/settings|\.codex\/config|\.mcp\.json|\.ssh\/rc/;

const LEADS_ELSEWHERE =
	/^(?:url\..*\.(?:push)?insteadof|protocol\.(?:ext\.)?allow|remote\..*\.(?:push|mirror|pushurl|url)|core\.hookspath|init\.templatedir|include(?:if\..*)?\.path)$/i;

/** A program that runs whatever file or text it is given. */
const RUNS_SCRIPT = /^(?:env|exec|nohup|(?:ba|da|z|k|fi)?sh|python[\d.]*|perl|ruby|node|php|lua)\s+\S/;

/** `git config core.editor vim` is a taste; a path, or a line for a shell, is a program that runs by itself from then on. */
function configuresGit(command: FoundCommand): boolean {
	if (!is(command, "git")) return false;
	const [verb, ...rest] = gitWords(command);
	if (verb === "init" || verb === "clone") return rest.some((text) => /^--template(?:=.|$)/.test(text));
	if (verb !== "config" || hasFlag(command, "--get|--get-all|--get-regexp|--list|-l|--unset|--unset-all|--remove-section|--get-urlmatch")) return false;
	const given = rest.filter((text, at) => !text.startsWith("-") && !/^(?:-f|--file|--type|--blob)$/.test(rest[at - 1] ?? ""));
	const [key = "", value] = /^(?:set|add)$/.test(given[0] ?? "") ? given.slice(1) : given;
	if (value === undefined) return false;
	if (LEADS_ELSEWHERE.test(key) || (/^alias\./i.test(key) && value.startsWith("!"))) return true;
	return RUNS_PROGRAM.test(key) && (/^!|[/;|&$`<>()]/.test(value) || RUNS_SCRIPT.test(value)) && !/^\S*\/(?:code|vim|nvim|nano|less|delta)\b/.test(value);
}

/** Command lines that write the settings of an agent. */
function configuresAgent(command: FoundCommand): boolean {
	if (is(command, "holdfast")) return says(command, /^setup\b/) && !hasFlag(command, "--help|-h|--dry-run|--print|--check");
	if (is(command, "claude", "codex", "gemini", "cursor-agent", "opencode") && command.args.some(({ text }) => /^--(?:dangerously|yolo|full-auto)/.test(text)))
		return true;
	if (is(command, "claude", "codex", "gemini", "cursor-agent", "opencode"))
		return says(command, /^(?:mcp (?:add|remove|add-json|add-from)|config (?:set|add|remove)|plugin (?:install|add))\b/);
	if (is(command, "npm", "pnpm", "yarn"))
		return (
			says(command, /^config set (?:script-shell|shell|prefix|registry|\S*:registry)\b/) ||
			(hasFlag(command, "-g|--global") && says(command, /^(?:i|install|add|uninstall|remove|rm|un)\b.*(?:\s\.{0,2}\/|\bholdfast\b)/))
		);
	if (is(command, "pip", "pip3")) return says(command, /^config set\b/);
	if (is(command, "go")) return says(command, /^env\b/) && hasFlag(command, "-w");
	return is(command, "code", "cursor") && command.args.some(({ text }) => text.startsWith("--install-extension"));
}

/** Jobs that run by themselves. */
export function changesJobs(command: FoundCommand): boolean {
	if (is(command, "crontab")) return !hasFlag(command, "-l");
	if (is(command, "at", "batch")) return !command.args.some(({ text }) => /^-[lcqV]/.test(text));
	if (is(command, "anacron")) return !hasFlag(command, "-T|-V|-h");
	if (is(command, "systemd-run")) return command.args.some(({ text }) => /^--(?:on-|timer|path-|socket-)/.test(text));
	return is(command, "loginctl") && says(command, /^enable-linger\b/);
}
