/** Text that a program prints so that a shell evaluates it: `eval "$(ssh-agent -s)"`, `source <(kubectl completion bash)`. */
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
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
export function isShellSetup(command: FoundCommand): boolean {
	const name = command.names.at(-1);
	const evaluates = name === "eval" || ((name === "source" || name === ".") && command.args[0]?.text === `/dev/fd/${UNKNOWN}`);
	return evaluates && command.upstream.length > 0 && command.upstream.every((one) => isPrinter(one));
}

function isPrinter({ names, args, input }: FoundCommand): boolean {
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

export const isFetcher = ({ names }: FoundCommand): boolean => names.some((name) => FETCHERS.has(name));

/** Whether text that is run comes from the network. */
export const runsRemoteCode = (command: FoundCommand): boolean =>
	installsUnseen(command) || (command.trait === "unknown-script" && command.upstream.some(isFetcher) && !isShellSetup(command));

/** Packages from an address rather than from the registry that the project uses; what they hold runs at once. */
function installsUnseen(command: FoundCommand): boolean {
	const given = words(command).map(({ text }) => text);
	const isAddress = (text: string) => /^(?:git\+|https?:|git:|ssh:|github:|gitlab:|gist:)/.test(text);
	if (is(command, "ansible-pull", "add-apt-repository")) return !hasFlag(command, "-r|--remove|-L|--list");
	if (is(command, "docker", "podman") && says(command, /^(?:buildx |image )?build\b/))
		return given.some(isAddress) || (command.args.some(({ text }) => text === "-") && command.upstream.some(isFetcher));
	if (is(command, "java", "ansible-playbook", "helm", "kubectl", "oc", "brew"))
		return (
			(given.some(isAddress) || command.args.some(({ text }) => /\/dev\/fd\/\0/.test(text) && command.upstream.some(isFetcher))) &&
			!says(command, /^(?:repo|search|show|get|describe|config|pull|diff|template|lint|info|update)\b/)
		);
	if (is(command, "cargo")) return given[0] === "install" && command.args.some(({ text }) => /^--(?:git|index)\b/.test(text));
	if (is(command, "gem")) return given[0] === "install" && given.some(isAddress);
	if (is(command, "pip", "pip3", "pipx", "uv", "uvx"))
		return (
			given.some(isAddress) ||
			command.args.some(
				({ text }, at) =>
					/^https?:/.test(text.replace(/^--?[\w-]+=/, "")) &&
					/^--(?:extra-)?index-url|^-i$/.test(text.startsWith("--") ? text : (command.args[at - 1]?.text ?? "")),
			)
		);
	if (is(command, "npm", "npx", "pnpm", "yarn", "bunx"))
		return (
			given.some(
				(text) => isAddress(text.replace(/^@?[\w./-]+@/, "")) || (/^(?:i|install|add)$/.test(given[0] ?? "") && /^[\w-]+\/[\w.-]+(?:#.*)?$/.test(text)),
			) ||
			command.args.some(
				({ text }, at) => /^--registry(?:=|$)/.test(text) && !/registry\.npmjs\.org|localhost|127\.0\.0\.1/.test(`${text} ${command.args[at + 1]?.text ?? ""}`),
			)
		);
	if (is(command, "deno", "bun")) return given[0] === "run" && given.slice(1).some(isAddress);
	return is(command, "nix") && /^(?:run|shell|develop)$/.test(given[0] ?? "") && given.slice(1).some(isAddress);
}
