import { byName, HoldfastError } from "../../../base/index.js";
import { type CommandBody, EXIT } from "../command.js";

/** Each asks this program what may come next, so that commands, options, names and tasks are known without a list to keep. */
const SCRIPTS = byName<string>({
	bash: `_holdfast() {
	local value rest
	COMPREPLY=()
	while IFS=$'\\t' read -r value rest; do COMPREPLY+=("$value"); done < <("\${COMP_WORDS[0]}" completion --words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _holdfast holdfast
`,
	zsh: `#compdef holdfast
_holdfast() {
	local -a found
	local value rest
	while IFS=$'\\t' read -r value rest; do found+=("\${value//:/\\\\:}:$rest"); done < <("\${words[1]}" completion --words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( \${#found} )); then _describe -V holdfast found; else _files; fi
}
if [[ "\${funcstack[1]}" == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`,
	fish: `function __holdfast_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l found (holdfast completion --words -- $words[2..-1] 2>/dev/null)
	if test (count $found) -gt 0
		printf '%s\\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c holdfast -f -a '(__holdfast_complete)'
`,
});

export const completion: CommandBody = {
	name: "completion",
	usage: "bash | zsh | fish",
	words: ["bash", "zsh", "fish"],
	options: { words: { type: "boolean", help: "for the scripts: print what may follow the words behind --, a line each", hidden: true } },
	teach: `
Prints the script that completes commands, options, names and ids of processes, and tasks, with the TAB key.

  bash   in ~/.bashrc:  eval "$(holdfast completion bash)"
  zsh    in ~/.zshrc, behind compinit:  eval "$(holdfast completion zsh)"
  fish   holdfast completion fish > ~/.config/fish/completions/holdfast.fish

Example
  holdfast completion bash`,
	async run(call) {
		const { words, values, out } = call;
		if (values.words) {
			const { candidates } = await import("../complete.js");
			const found = await candidates(call, words);
			if (out.json) out.data({ candidates: found });
			else for (const { value, help } of found) out.line(`${value}\t${help}`);
			return EXIT.ok;
		}
		const [shell = "", ...more] = words;
		const script = SCRIPTS[shell];
		if (script === undefined || more.length > 0) throw new HoldfastError("INVALID", "say for which shell: `holdfast completion bash`, zsh or fish");
		if (out.json) out.data({ shell, script });
		else process.stdout.write(script);
		return EXIT.ok;
	},
};
