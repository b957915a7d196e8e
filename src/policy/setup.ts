/** Text that a program prints so that a shell evaluates it: `eval "$(ssh-agent -s)"`, `source <(kubectl completion bash)`. */
import type { Found } from "./found.js";
import { UNKNOWN } from "./word.js";

const VERSION_MANAGERS = "(?:pyenv|rbenv|nodenv|goenv|jenv|plenv|phpenv)";

/** A program with the words that make it print such text, and nothing else. */
const PRINTS = [
	/^ssh-agent(?: -[sc])?$/,
	new RegExp(`^${VERSION_MANAGERS} (?:init|virtualenv-init)(?: -| --path| --no-rehash| bash| zsh)*$`),
	/^(?:starship|zoxide|atuin|oh-my-posh|mcfly|navi|jump|pazi) (?:init|widget|shell)(?: (?:bash|zsh|fish|--cmd \w+|--print-full-init))*$/,
	/^(?:mise|rtx) (?:activate|env|hook-env|completion)(?: (?:bash|zsh|-s|--shims))*$/,
	/^direnv (?:hook|export) (?:bash|zsh)$/,
	/^(?:fnm|frum) env(?: --[\w-]+)*$/,
	/^(?:\S*\/)?brew shellenv(?: bash| zsh)?$/,
	/^opam (?:env|config env)(?: --[\w=-]+)*$/,
	/^(?:conda|mamba|micromamba) shell(?:\.\w+)? hook(?: -s \w+| --shell \w+)*$/,
	/^dircolors(?: -b| --sh| --bourne-shell)*(?: [^ -]\S*)?$/,
	/^minikube(?: -p \S+)? docker-env$/,
	/^docker-machine env(?: \S+)?$/,
	/^keychain(?: --?[\w-]+| [\w.]+)*$/,
	/^luarocks path(?: --[\w-]+)*$/,
	/^thefuck --alias(?: \w+)?$/,
	/^gpg-agent(?: --daemon| -s| --sh)*$/,
	/^(?:resize|lesspipe)$/,
	/^(?:fzf|just|rg) --(?:bash|zsh|completions bash|generate complete-bash)$/,
	/^register-python-argcomplete3? [\w.-]+$/,
	/^tmux show-env(?:ironment)? -(?:s|gs|sg)$/,
	/^(?:poetry env activate|pdm venv activate(?: [\w-]+)?)$/,
	/^(?:uv|uvx|ruff) generate-shell-completion (?:bash|zsh)$/,
	// `X completion bash`, as so many have it. What could be anything else behind it is not it.
	/^[a-z][\w.-]* (?:completions?|autocomplete)(?: (?:bash|zsh|fish|script|-s|--shell|--bash|--zsh|cargo|rustup))*$/,
];

/** Only what evaluates it in place: a pipe into a shell is not how such text is used. */
export function isShellSetup(command: Found): boolean {
	const name = command.names.at(-1);
	const evaluates = name === "eval" || ((name === "source" || name === ".") && command.args[0]?.text === `/dev/fd/${UNKNOWN}`);
	return evaluates && command.upstream.length > 0 && command.upstream.every((one) => isPrinter(one));
}

function isPrinter({ names, args, input }: Found): boolean {
	const line = [names.at(-1) ?? "", ...args.map(({ text }) => text)].join(" ");
	return input === null && PRINTS.some((pattern) => pattern.test(line));
}

const FETCHERS = new Set([
	"curl",
	"wget",
	"fetch",
	"http",
	"https",
	"xh",
	"nc",
	"ncat",
	"netcat",
	"socat",
	"aria2c",
	"lynx",
	"ssh",
	"scp",
	"gh",
	"glab",
	"npm",
	"pip",
	"pip3",
	"aws",
	"gsutil",
	"gcloud",
	"rclone",
	"ftp",
]);

/** Whether text that is run comes from the network. */
export const runsRemoteCode = (command: Found): boolean =>
	command.trait === "unknown-script" && command.upstream.some((one) => one.names.some((name) => FETCHERS.has(name))) && !isShellSetup(command);
