/** A question about a command, for a person at this terminal. */

import os from "node:os";
import { createInterface } from "node:readline";
import type { Approval, Choice, Reply } from "../../approvals/index.js";
import { byName, visible } from "../../base/index.js";
import type { Output } from "./output.js";

/** The words that a person may type for each choice. */
export const CHOICES = byName<Choice>({
	o: "once",
	once: "once",
	y: "once",
	yes: "once",
	t: "task",
	task: "task",
	a: "always",
	always: "always",
	n: "no",
	no: "no",
});
const WORDS: Readonly<Record<Choice, string>> = { once: "[o]nce", task: "for this [t]ask", always: "[a]lways", no: "[n]o" };

/** The person at this terminal. */
export const byTerminal = (): string => `terminal, ${os.userInfo().username}`;

/** Returns the question in lines, without characters that could move the cursor. */
export function describe(approval: Approval, out: Output): string[] {
	return [
		`${out.style("bold", approval.id)}  task ${visible(approval.task)}, in ${visible(approval.cwd)}${approval.place === "local" ? "" : ` on ${visible(approval.place)}`}`,
		...visible(approval.command)
			.split("\n")
			.map((line) => `    ${line}`),
		...approval.parts.map(
			({ text, rule, reason, start, end }) =>
				`  ${out.style("yellow", reason)} (${rule}), bytes ${start} to ${end}: ${visible(text).replaceAll("\n", " ").slice(0, 200)}`,
		),
	];
}

/** Ask; `no Because of this` has a message for the model. Returns undefined if another program has answered, or there is no answer to be had. */
export function askHere(approval: Approval, out: Output, signal: AbortSignal): Promise<Reply | undefined> {
	return new Promise((resolve) => {
		const terminal = createInterface({ input: process.stdin, output: process.stderr });
		let reply: Reply | undefined;
		const leave = () => terminal.close();
		signal.addEventListener("abort", leave, { once: true });
		terminal.once("SIGINT", () => {
			leave();
			process.kill(process.pid, "SIGINT");
		});
		terminal.once("close", () => {
			signal.removeEventListener("abort", leave);
			if (!reply) process.stderr.write("\n");
			resolve(reply);
		});
		process.stderr.write(`${["An agent wants to run this:", ...describe(approval, out)].join("\n")}\n`);
		const question = `Allow it? ${approval.choices.map((choice) => WORDS[choice]).join(", ")}, and a message if you like: `;
		const ask = () =>
			terminal.question(question, (line) => {
				const [, word = "", message = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
				const answer = CHOICES[word.toLowerCase()];
				if (!answer || !approval.choices.includes(answer)) return ask();
				reply = { answer, by: byTerminal(), ...(message === "" ? {} : { message }) };
				leave();
			});
		ask();
	});
}
