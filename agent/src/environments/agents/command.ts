/** A program in the place as the agent: any command line. It is given the instruction as a file and in its environment. */
import path from "node:path";
import { type EpisodeAgent, EpisodeError, quoted, type ToolContext } from "../../episode/index.js";

const NO_WORK = { conversation: null, usage: { input: 0, output: 0 }, tools: [] };
const SHOWN = 2_000;

/** `command` is shell text; $HOLDFAST_INSTRUCTION is the instruction, $HOLDFAST_INSTRUCTION_FILE a file with it. */
export const commandAgent = (command: string): EpisodeAgent => ({
	name: command,
	enter: async ({ cx, setting }) => ({
		async act({ prompt }, round, signal) {
			const file = await instructionFile(cx, prompt);
			const env = { ...setting.env, HOLDFAST_INSTRUCTION: prompt, HOLDFAST_INSTRUCTION_FILE: file };
			const ran = await cx
				.run(command, { user: setting.user ?? null, env, signal, ...(setting.cwd === undefined ? {} : { cwd: setting.cwd }) })
				.catch((error: unknown) => {
					if (signal.aborted) return undefined;
					throw error;
				});
			if (!ran) return "stopped";
			await save(cx, round, ran.bytes());
			if (ran.exit_code === 127 || ran.exit_code === 126)
				throw new EpisodeError(
					"environment",
					"agent_program",
					`the agent's program cannot be run in the place (exit code ${ran.exit_code}): ${ran.text().slice(-SHOWN)}`,
				);
			return "finished";
		},
		leave: async () => NO_WORK,
	}),
});

async function instructionFile(cx: ToolContext, prompt: string): Promise<string> {
	const { text } = await cx.run(`umask 022; mktemp -d`);
	const dir = text().trim();
	const file = `${dir}/instruction.md`;
	await cx.write(file, prompt, { mode: 0o644 });
	await cx.run(`chmod 755 ${quoted(dir)}`);
	return file;
}

async function save(cx: ToolContext, round: number, output: Buffer): Promise<void> {
	const { writeFile } = await import("node:fs/promises");
	await writeFile(path.join(cx.folder, `agent-${round + 1}.txt`), output, { mode: 0o600 });
}
