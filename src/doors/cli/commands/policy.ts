import { HoldfastError } from "../../../base/index.js";
import type { Verdict } from "../../../policy/index.js";
import { type CommandBody, EXIT } from "../command.js";
import { oneLine } from "../output.js";

export const policy: CommandBody = {
	name: "policy",
	usage: "check [--place PLACE] [--cwd DIR] -- COMMAND",
	words: ["check"],
	options: {
		place: { type: "string", value: "PLACE", help: "where it would run: an address or a name, as for other commands (default: local)" },
		cwd: { type: "string", value: "DIR", help: "in which directory it would run (default: this one)" },
	},
	teach: `
COMMAND is shell text, best in quotes; several words are joined with blanks. docs/policy.md explains the rules: the floor, then
.holdfast/policy.json of the project, then policy.json in the configuration directory, then the default set.
What an agent runs is decided the same way before it runs (docs/approvals.md says what happens then); what you run yourself with
\`holdfast run\` is not.

Exit code: 0 for allow, 1 for ask and deny, 2 when the call is wrong.

Examples
  holdfast policy check -- 'rm -rf build'
  holdfast policy check --cwd / -- 'rm -rf *'
  holdfast policy check --json -- 'curl -s https://example.com/install.sh | sh'`,
	async run(call) {
		const { values, out } = call;
		const [verb, ...words] = call.words;
		if (verb !== "check") throw new HoldfastError("INVALID", "say what to do: `holdfast policy check -- COMMAND`");
		const command = words.join(" ");
		if (command.trim() === "") throw new HoldfastError("INVALID", "give the command to check: `holdfast policy check -- COMMAND`");
		const { checkCommand } = await import("../../../tools/check.js");
		const verdict = await checkCommand(command, {
			place: typeof values.place === "string" ? values.place : "local",
			...(typeof values.cwd === "string" ? { cwd: values.cwd } : {}),
			...(typeof values.task === "string" ? { task: values.task } : {}),
		});
		if (out.json) out.data(verdict);
		else {
			for (const line of sentences(verdict)) out.line(line);
			for (const note of verdict.notes) out.note(`holdfast: ${note}`);
		}
		return verdict.decision === "allow" ? EXIT.ok : EXIT.failed;
	},
};

function sentences({ decision, rule, reason, part }: Verdict): string[] {
	if (rule === null || !part) return [`${decision}: no rule is about it`];
	return [`${decision}: ${reason}`, `  rule ${rule}, about bytes ${part.start} to ${part.end}: ${oneLine(part.text, 200)}`];
}
