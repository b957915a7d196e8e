/** What a model is sent of a command's output: tokens of ten recorded jobs, as the core shows them and as the agent does. */
import { openRuntime, renderResult } from "holdfast";
import { coreTools, TASK_LIMITS } from "../agent/dist/tools/index.js";
import { atMost, row } from "./report.mjs";

const RECORDINGS = new URL("recordings/", import.meta.url).pathname;
const CHARS_PER_TOKEN = 3.5; // as the agent estimates

/** Each is real output, so that what is left out is what is left out of real work. */
const JOBS = {
	tests: "vitest, every test with its name",
	typecheck: "tsc with a hundred errors",
	"git-log": "git log --stat of forty commits",
	search: "grep -rn with thousands of matches",
	listing: "ls -lR of a source tree",
	packages: "dpkg -l",
	server: "an HTTP server's log of 600 requests",
	wait: "a script that waits for a port",
	clone: "git clone with its progress",
	archive: "tar with the names of its files",
};

export default async function context(bench) {
	const runtime = await openRuntime({ home: bench.dir("context"), warm: 0 });
	bench.atEnd(async () => {
		await runtime.endTask("plain");
		await runtime.endTask("agent");
		await runtime.close();
	});
	const plain = runtime.task("plain");
	const agent = runtime.task("agent", { limits: TASK_LIMITS });
	const terminal = coreTools({ runtime, task: agent }).find(({ name }) => name === "terminal");
	const never = new AbortController().signal;
	const rows = [];
	const sums = { plain: 0, agent: 0 };
	for (const [name, job] of Object.entries(JOBS)) {
		const command = `zcat ${RECORDINGS}${name}.txt.gz`;
		const before = tokens(renderResult(await plain.terminal({ command })));
		const after = tokens((await terminal.run({ command }, { id: name, signal: never, yield: never })).text);
		sums.plain += before;
		sums.agent += after;
		rows.push(row({ what: job, value: after, unit: "tokens", baselines: [{ name: "the core's result", value: before }], target: atMost(1) }));
	}
	rows.push(row({ what: "all ten", value: sums.agent, unit: "tokens", baselines: [{ name: "the core's results", value: sums.plain }], target: atMost(0.7) }));
	return rows;
}

const tokens = (text) => Math.ceil(text.length / CHARS_PER_TOKEN);
