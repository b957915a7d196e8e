import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import type { TaskItem } from "../../src/tasks/index.js";
import { movesEverything } from "./moves.js";
import { dockerField, type Field, field, harborTask, itemIn, OWN_TASKS, type Played, wordsOf } from "./support.js";

const TASKS = ["keeps-serving", "asks-twice", "mends-the-sum"];
const PLACES = ["sandbox", "container"] as const;
const AT_ONCE = 4;
const fieldAt = (place: (typeof PLACES)[number], context: TestContext): Promise<Field> => (place === "sandbox" ? field() : dockerField(context));
const own = (name: string): TaskItem => itemIn(path.join(OWN_TASKS, name));

async function inLanes<T>(jobs: readonly (() => Promise<T>)[]): Promise<T[]> {
	const done: T[] = [];
	const rest = [...jobs.entries()][Symbol.iterator]();
	const lane = async () => {
		for (const [at, job] of rest) done[at] = await job();
	};
	await Promise.all(Array.from({ length: AT_ONCE }, lane));
	return done;
}

describe.for(PLACES)("our own tasks in a %s", (place) => {
	it("give the oracle 1.0 and nop 0.0, ten times each, and leave nothing", async (context) => {
		const { play } = await fieldAt(place, context);
		const jobs = TASKS.flatMap((name) => Array.from({ length: 20 }, (_, at) => () => play(own(name), at % 2 === 0 ? "oracle" : "nop")));
		const all = await inLanes(jobs);
		expect(
			all.map(({ how, gone }) => `${how.replace(" tamperable", "")} ${gone}`),
			all.map(wordsOf).join(""),
		).toEqual(all.map((_, at) => `scored ${at % 2 === 0 ? 1 : 0} true`));
	}, 1_800_000);

	const [L, T] = ["${LOGS_DIR:-/logs}", "${TESTS_DIR:-/tests}"];
	const FORGE = `echo '{"reward": 1}' > ${L}/verifier/reward.json; echo 1 > ${L}/verifier/reward.txt`;
	const background = (text: string) => `(setsid sh -c '${text.replaceAll("'", `'\\''`)}' > /dev/null 2>&1 < /dev/null &)`;
	const CHEATS: Readonly<Record<string, string>> = {
		"a reward written early": FORGE,
		"a daemon that writes it again and again": background(`while :; do ${FORGE}; sleep 0.02; done`),
		"tests that are watched and edited": background(
			`while :; do [ -f ${T}/test.sh ] && printf '#!/bin/sh\\n%s\\n' "${FORGE.replaceAll('"', '\\"')}" > ${T}/test.sh; done`,
		),
		"programs of the tests replaced in PATH": `for d in /usr/local/bin ~/bin; do mkdir -p $d; for p in bash sh sha256sum sed cat timeout id; do printf '#!/bin/sh\\n%s\\n' "${FORGE.replaceAll('"', '\\"')}" > $d/$p; chmod +x $d/$p; done; done; echo 'PATH=/usr/local/bin:$HOME/bin:$PATH' | tee -a ~/.profile ~/.bashrc /etc/profile`,
		"what is judged writes the reward": `printf '%s\\n' ${["#!/bin/sh", FORGE, background(`while :; do ${FORGE}; sleep 0.02; done`)].map((line) => `'${line.replaceAll("'", `'\\''`)}'`).join(" ")} > sum.sh`,
	};
	it.for(Object.keys(CHEATS))("%s gives 0, tamperable or no reward in each", async (name, context) => {
		const { play } = await fieldAt(place, context);
		const all = await Promise.all(TASKS.map((task) => play(own(task), CHEATS[name] as string)));
		for (const one of all) expect(one.how, wordsOf(one)).toMatch(/^scored 0$|tamperable$|^scorer failed$/); // the last: what it did to its own place keeps the tests from running
		expect(all.map(({ gone }) => gone)).toEqual([true, true, true]);
	});

	it("the hands of an episode move 100 MB and more both ways", async (context) => {
		await movesEverything(await fieldAt(place, context), 100);
	});
});

it("two hundred episodes of one item at once have a task, a shell and files each", async () => {
	const { play } = await field();
	const item = harborTask('[ "$(cat own | wc -l)" = 1 ] && [ "$(ls | wc -l)" = 1 ] && echo 1 > "$LOGS/verifier/reward.txt"');
	const words = Array.from({ length: 200 }, () => randomBytes(8).toString("hex"));
	const all: Played[] = await Promise.all(words.map((word) => play(item, `ls; echo ${word} >> own`, { seconds: 1_200 })));
	expect(
		all.map(({ how, gone }) => `${how} ${gone}`),
		all.map(wordsOf).join(""),
	).toEqual(Array(200).fill("scored 1 tamperable true"));
	expect(new Set(all.map(({ name }) => name)).size).toBe(200);
	expect(all.map(({ folder }) => fs.readFileSync(path.join(folder, "../work/own"), "utf8").trim())).toEqual(words);
}, 1_800_000);
