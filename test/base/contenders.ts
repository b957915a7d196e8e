/** Programs that take one lease from each other, some of which are killed while they have it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { tempDir } from "../support/home.js";

const PROGRAM = path.join(import.meta.dirname, "../fixtures/contender.mjs");

/** What each has printed; those that are killed are replaced until `lives` are used up. */
export async function contend({
	programs,
	rounds,
	lives,
	random,
}: {
	programs: number;
	rounds: number;
	lives: number;
	random: () => number;
}): Promise<string[]> {
	const dir = tempDir("lease");
	const said: string[] = [];
	const one = async (mortal: boolean): Promise<void> => {
		for (let left = mortal ? lives : 1; left > 0; left--) {
			const args = [PROGRAM, dir, String(rounds), String(Math.floor(random() * 2 ** 31)), ...(mortal && left > 1 ? ["20"] : [])];
			const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
			let output = "";
			child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
			const [, signal] = await once(child, "close");
			said.push(signal === "SIGKILL" ? "killed" : output.trim());
		}
	};
	await Promise.all(Array.from({ length: programs }, (_, number) => one(number % 2 === 0)));
	return said;
}
