import { createInterface } from "node:readline";

/** Whether there is a person to ask. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true;

/** A question for a person. Undefined without one, and at the end of input. Ctrl-C ends the program, as it does everywhere. */
export function question(text: string): Promise<string | undefined> {
	return new Promise((resolve) => {
		if (!process.stdin.isTTY) return resolve(undefined);
		const terminal = createInterface({ input: process.stdin, output: process.stderr });
		let answer: string | undefined;
		terminal.once("SIGINT", () => {
			terminal.close();
			process.kill(process.pid, "SIGINT");
		});
		terminal.once("close", () => {
			if (answer === undefined) process.stderr.write("\n");
			resolve(answer);
		});
		terminal.question(text, (line) => {
			answer = line;
			terminal.close();
		});
	});
}

/** Yes or no; without a person to ask the answer is no. */
export const agrees = async (text: string): Promise<boolean> => /^\s*y(es)?\s*$/i.test((await question(text)) ?? "");
