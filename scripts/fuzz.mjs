// Mutated commands of the corpus, one after the other: no crash, no hang. `npm run fuzz [COUNT] [SEED]`; the seed makes it the same again.
import fs from "node:fs";
import path from "node:path";
import { ensureBuilt, ensureDependencies, root } from "./setup.mjs";

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
if (process.env.FUZZ_BUILT !== "1") {
	ensureDependencies();
	ensureBuilt();
}
const { decide, loadParser } = await import("../dist/policy/index.js");
await loadParser();

const corpus = fs
	.readFileSync(path.join(root, "test/policy/corpus.txt"), "utf8")
	.split("\n")
	.filter((line) => /^(allow|ask|deny) /.test(line))
	.map((line) => line.replace(/^\w+ +/, "").replaceAll("⏎", "\n"));
const PIECES = [
	"'",
	'"',
	"`",
	"$(",
	")",
	"{",
	"}",
	"((",
	"))",
	"<<EOF\n",
	"\nEOF\n",
	"<<<",
	"|",
	"&&",
	";",
	"&",
	"\\",
	"\\\n",
	"${",
	"$",
	"#",
	"*",
	"~",
	"\0",
	"\u200b",
	"ｒ",
	"\ud800",
	"eval ",
	"sh -c '",
	"for x in ",
	"do",
	"done",
	"if ",
	"then",
	"fi",
	"case x in",
	"esac",
	"f() {",
	"$'\\x72'",
	"{a,b}",
	"=(",
	"<(",
	">",
	"\t",
];
const LIMIT_MS = 5_000; // far above what the parser's budget allows on a slow machine: what takes longer hangs

let state = seed || 1;
const random = (below) => {
	state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
	return Math.floor((state / 2 ** 32) * below);
};
const pick = (list) => list[random(list.length)];

function mutated() {
	let text = pick(corpus);
	for (let times = random(4); times >= 0; times--) {
		const at = random(text.length + 1);
		switch (random(7)) {
			case 0:
				text = text.slice(0, at) + text.slice(at + 1 + random(4));
				break;
			case 1:
			case 2:
				text = text.slice(0, at) + pick(PIECES) + text.slice(at);
				break;
			case 3:
				text = text.slice(0, at) + pick(corpus) + text.slice(at);
				break;
			case 4:
				text = text.slice(0, at) + String.fromCharCode(random(300)) + text.slice(at + 1);
				break;
			case 5:
				text = `${text.slice(0, at)}${text.slice(at, at + 8).repeat(1 + random(random(50) === 0 ? 2_000 : 6))}${text.slice(at)}`;
				break;
			default:
				text = `${pick(["sh -c '", 'eval "', "$(", "(", "x=$(", "cat <<E | sh\n"])}${text}${pick(["'", '"', ")", "\nE", ""])}`;
		}
	}
	return text;
}

const decisions = { allow: 0, ask: 0, deny: 0 };
let slowest = 0;
for (let done = 0; done < count; done++) {
	const command = mutated();
	await loadParser(); // the last one may have been too much for it
	const start = process.cpuUsage();
	try {
		decisions[decide(command, { cwd: root }).decision]++;
	} catch (error) {
		console.error(`seed ${seed}, command ${done}: ${JSON.stringify(command)}\n${error.stack}`);
		process.exit(1);
	}
	// The time of this program alone: a busy machine is no hang.
	const { user, system } = process.cpuUsage(start);
	const ms = (user + system) / 1_000;
	slowest = Math.max(slowest, ms);
	if (ms > LIMIT_MS) {
		console.error(`seed ${seed}, command ${done} took ${Math.round(ms)} ms: ${JSON.stringify(command.slice(0, 500))}`);
		process.exit(1);
	}
	if ((done + 1) % 100_000 === 0) console.error(`${done + 1} commands`);
}
console.log(JSON.stringify({ commands: count, seed, ...decisions, slowest_ms: Math.round(slowest) }));
