/** Variables whose value is run by the shell, or by programs that read them. */
import { settingRuns } from "./git.js";

const PROGRAMS =
	/^(?:(?:GIT_|MAN|SYSTEMD_)?PAGER|(?:GIT_|SUDO_|SYSTEMD_|KUBE_|FC)?EDITOR|FCEDIT|VISUAL|GIT_SEQUENCE_EDITOR|GIT_SSH_COMMAND|GIT_PROXY_COMMAND|(?:GIT|SSH|SUDO)_ASKPASS|RSYNC_RSH|CVS_RSH|LESSOPEN|LESSCLOSE|BROWSER|TAR_OPTIONS|SHELLOPTS_COMMAND)$/;

/** Files of code that a shell, or every program, loads. */
const CODE = /^(?:BASH_ENV|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|ENV|RUSTC_WRAPPER|RUSTC|RUSTC_WORKSPACE_WRAPPER|GIT_EXTERNAL_DIFF)$/;

/** The shell text in the value of a variable. */
export function valueRuns(name: string, value: string, held: (name: string) => string): string[] {
	if (name === "PROMPT_COMMAND") return [value];
	if (CODE.test(name)) return value === "" ? [] : [value.startsWith("/") ? value : `./${value}`]; // a file: which is only known by its path
	if (name === "PATH") return inTemporary(value.split(":"), held("PWD")) ? ["/tmp/program"] : [];
	if (/^(?:NODE_OPTIONS|RUBYOPT|PERL5OPT|PYTHONSTARTUP)$/.test(name)) {
		const file = /(?:--require[ =]|--import[ =]|-r ?|^)([/~]\S*)/.exec(value)?.[1];
		return file === undefined && !(name === "PERL5OPT" && value.includes(";")) ? [] : [file ?? "/perl"];
	}
	if (/^(?:PYTHONPATH|PERL5LIB|RUBYLIB|NODE_PATH|LD_LIBRARY_PATH|CC|CXX|LD|AR|AS)$/.test(name))
		return inTemporary(value.split(":"), held("PWD")) ? ["/tmp/code"] : [];
	if (/^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|GOFLAGS)$/.test(name))
		return /-(?:javaagent|agentpath):|-toolexec/.test(value) ? ["/agent"] : [];
	if (/^npm_config_(?:script_shell|shell)$/i.test(name)) return value === "" ? [] : [value];
	if (/^PS[0-4]$/.test(name)) return /\$\(|`/.test(value) ? [`: ${value}`] : [];
	if (PROGRAMS.test(name)) return value !== "" ? [value.replace(/^\|/, "")] : [];
	const number = /^GIT_CONFIG_VALUE_(\d+)$/.exec(name)?.[1];
	if (number !== undefined) return settingRuns(`${held(`GIT_CONFIG_KEY_${number}`)}=${value}`);
	return name === "GIT_CONFIG_PARAMETERS" ? [...value.matchAll(/'([^']*)'/g)].flatMap((match) => settingRuns(match[1] as string)) : [];
}

/** Returns whether any of the directories is writable for all users, unless the work itself is in it. */
const inTemporary = (list: readonly string[], work: string): boolean =>
	list.some((dir) => !dir.startsWith(work) && /^\/(?:tmp|var\/tmp|dev\/shm)(?:\/|$)/.test(dir));
