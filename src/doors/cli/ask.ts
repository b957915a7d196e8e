import { createInterface } from "node:readline";

/** Whether there is a person to ask. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true;

/** A question for a person; without one, and at the end of input, the answer is no. Ctrl-C ends the program, as it does everywhere. */
export function agrees(question: string): Promise<boolean> {
	return new Promise((resolve) => {
		if (!process.stdin.isTTY) return resolve(false);
		const terminal = createInterface({ input: process.stdin, output: process.stderr });
		let answer: string | undefined;
		terminal.once("SIGINT", () => {
			terminal.close();
			process.kill(process.pid, "SIGINT");
		});
		terminal.once("close", () => {
			if (answer === undefined) process.stderr.write("\n");
			resolve(/^\s*y(es)?\s*$/i.test(answer ?? ""));
		});
		terminal.question(question, (line) => {
			answer = line;
			terminal.close();
		});
	});
}
