import { HoldfastError, keptProcesses } from "../../../base/index.js";
import { givesOwnRights } from "../../../places/index.js";
import { checkName, nameOf, type Runtime, runningCalled, type SpawnOptions } from "../../../process/index.js";
import { canAsk } from "../ask.js";
import { type CommandBody, EXIT } from "../command.js";
import { session } from "../session.js";
import { terminalSize } from "../terminal-size.js";
import { attachTo } from "./attach.js";

/** A remote machine has a shell of its own choosing; bash, if it has that. */
const REMOTE_SHELL = 'exec "$(command -v bash || command -v sh)"';

export const shell: CommandBody = {
	name: "shell",
	usage: "[NAME] [--cwd DIR]",
	options: {
		cwd: { type: "string", value: "DIR", help: "where a new one starts (default: this directory; remote: the place's)" },
	},
	starts: true,
	teach: `
A shell of yours ($SHELL) on a terminal that outlives this one. Ctrl-] leaves it, and it goes on; so it does when your terminal closes or
the connection breaks. With the NAME of one that runs in the task you are back in it; without a NAME a new one starts, called shell,
shell-2 and so on. exit ends it. An agent's shell is another thing: see \`holdfast terminal --help\`.

Exit code: that of the shell when it ended, 0 after leaving it.

Examples
  holdfast shell
  holdfast shell work
  holdfast shell deploy --place ssh://me@box`,
	async run(call) {
		const { words, values, out } = call;
		const [wanted, ...more] = words;
		if (more.length > 0)
			throw new HoldfastError("INVALID", `only one name is expected, not also "${more.join(" ")}"; \`holdfast run -- COMMAND\` runs a command`);
		if (out.json) throw new HoldfastError("INVALID", "a shell is for people; use `holdfast run --background --pty --json -- bash`");
		if (!canAsk()) throw new HoldfastError("NO_TERMINAL", "a shell needs a terminal on both sides; in scripts use `holdfast run --background --pty -- bash`");
		const within = keptProcesses()[0];
		if (within !== undefined)
			throw new HoldfastError(
				"INVALID",
				`this terminal is on ${within} already, whose Ctrl-] would leave both; leave it first, or use \`holdfast run --background --pty\``,
			);
		const runtime = await call.runtime();
		const [running, another] = wanted === undefined ? [] : runningCalled(runtime, wanted, { task: runtime.task });
		if (another)
			throw new HoldfastError(
				"NOT_FOUND",
				`several processes that run are called "${wanted}"; \`holdfast ps\` lists them, \`holdfast attach ID\` takes you to one`,
			);
		if (running) {
			if (values.cwd !== undefined) out.note(`"${wanted}" runs already; --cwd is for a new one`);
			return attachTo(call, running);
		}
		const name = wanted ?? freeName(runtime);
		checkName(runtime, name);
		const started = await runtime.spawn({ ...shellOf(runtime), name, ...(typeof values.cwd === "string" ? { cwd: values.cwd } : {}) });
		out.tell();
		out.note(`${name} (${started.id}): Ctrl-] leaves it running, \`holdfast shell ${name}\` comes back`);
		if ((await session(started, { from: 0, out })) === "detached") return EXIT.ok;
		const status = started.status();
		return "exitCode" in status && status.exitCode !== null ? status.exitCode : EXIT.failed;
	},
};

function shellOf(runtime: Runtime): SpawnOptions {
	return { command: givesOwnRights(runtime.wish) ? [process.env.SHELL || "/bin/bash"] : REMOTE_SHELL, terminal: terminalSize() };
}

function freeName(runtime: Runtime): string {
	const taken = new Set(runtime.list({ ended: false }).map(nameOf));
	for (let number = 1; ; number++) {
		const name = number === 1 ? "shell" : `shell-${number}`;
		if (!taken.has(name)) return name;
	}
}
