/** A password from the person at the terminal: nothing of it is shown. */
import type { AskPerson } from "../../sudo/index.js";

/** `own`: the task whose commands this program runs. Enter skips, and so do Ctrl-C, Ctrl-D and silence. Returns undefined without a terminal: there is no person to ask. */
export function passwordAsker(own: string): AskPerson | undefined {
	const { stdin, stderr } = process;
	if (!stdin.isTTY || !stderr.isTTY) return undefined;
	return ({ task, signal }) =>
		new Promise((resolve) => {
			if (task !== own) return resolve(null); // the task belongs to another program on the same home, with a person of its own
			let typed = "";
			const done = (password: string | null) => {
				stdin.off("data", take);
				signal.removeEventListener("abort", silence);
				stdin.setRawMode(false);
				stdin.pause();
				stderr.write("\n");
				resolve(password);
			};
			const silence = () => done(null);
			const take = (bytes: Buffer) => {
				for (const char of bytes.toString("utf8")) {
					if (char === "\r" || char === "\n") return done(typed === "" ? null : typed);
					if (char === "\x03" || char === "\x04") return done(null);
					if (char === "\x7f" || char === "\b") typed = typed.slice(0, -1);
					else if (char >= " ") typed += char;
				}
			};
			stdin.setRawMode(true); // before the question: an immediate answer must not be echoed
			stderr.write(`A command of task "${task}" wants to use sudo. Your password (Enter: no, within 45 s): `);
			stdin.on("data", take);
			stdin.resume();
			signal.addEventListener("abort", silence, { once: true });
		});
}
