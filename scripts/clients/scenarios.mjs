/** The scenarios: each returns what to write into the client's column, and whether that is as it should be. */
const terminal = (command, more = {}) => ({ tool: "terminal", args: { command, ...more } });
const processCall = (action, more = {}) => ({ tool: "process", args: { action, ...more } });
const turn = (...calls) => ({ calls });
const idIn = (text = "") => /proc_[0-9a-f]{12}/.exec(text)?.[0] ?? "proc_unknown";
const SAID_NO = /person said no|refusal \d/i;

/** Ticks while the client is killed, or gives up. */
const ticks = (count) => `for i in $(seq ${count}); do echo "tick $i."; sleep 1; done`;
const allTicks = (text, count) => Array.from({ length: count }, (_, at) => `tick ${at + 1}.`).every((tick) => text.split(tick).length === 2);

/** Looks for at most forty seconds; what follows says whether it came true. */
async function until(isTrue) {
	for (let round = 0; round < 200 && !isTrue(); round++) await new Promise((resolve) => setTimeout(resolve, 200));
}

const verdict = (checks, says = "") => {
	const failed = Object.entries(checks).filter(([, good]) => !good);
	return { good: failed.length === 0, says: failed.length === 0 ? says || "ok" : `FAILED: ${failed.map(([name]) => name).join(", ")}` };
};

export const SCENARIOS = [
	{
		id: "state",
		title: "state over calls",
		async run(stage) {
			const { results } = await stage.scene("state").play([turn(terminal("cd /tmp; NAME=Jo")), turn(terminal("pwd; echo hello $NAME"))]);
			return verdict({ "directory and variable": /\/tmp\b[\s\S]*hello Jo/.test(results[1]) });
		},
	},
	{
		id: "limit",
		title: "a command longer than the client's limit",
		async run(stage, { client }) {
			const { limit } = client;
			const count = limit.seconds + 12;
			const scene = stage.scene("limit", { limit: limit.seconds });
			const { results } = await scene.play([
				turn(terminal(`${ticks(count)}; echo whole`, { timeout: 600 })),
				turn(processCall("list")),
				([, list]) => turn(processCall("wait", { session_id: idIn(list), timeout: 60 })),
				([, list]) => turn(processCall("log", { session_id: idIn(list) })),
			]);
			if (/tick 1\.[\s\S]*whole/.test(results[0]))
				return verdict({ "all output": allTicks(results[0], count) }, `ok: whole result after ${count} s, limit ${limit.seconds} s`);
			return verdict(
				{
					"in the list, running": /running/.test(results[1]),
					"ends with 0": /"?exit.code"?:? ?0/.test(results[2]),
					"all output": allTicks(results[3] ?? "", count),
				},
				`ok: goes on in the background at ${limit.seconds} s`,
			);
		},
	},
	{
		id: "killed",
		title: "kill -9 of client and server in the middle of a call, then a new client",
		async run(stage, { client }) {
			const scene = stage.scene("killed");
			const first = scene.start([
				turn(terminal("cd /tmp; NAME=Jo; greet() { echo hello $NAME; }")),
				turn(terminal("while :; do sleep 1; done", { background: true })),
				turn(terminal(`${ticks(25)}; (exit 7)`, { timeout: 300 })),
			]);
			const running = () => scene.holdfast("ps", "--all").processes.find(({ output_preview }) => output_preview?.includes("tick 2."));
			await until(running);
			const found = running();
			if (!found) return { good: false, says: "FAILED: the call never began" };
			await scene.killAll(first);
			const { results } = await scene.play([
				turn(processCall("list")),
				turn(processCall("wait", { session_id: found.session_id, timeout: 60 })),
				turn(processCall("log", { session_id: found.session_id })),
				turn(terminal("pwd; greet")),
			]);
			return verdict(
				{
					"both processes": results[0].includes(found.session_id) && results[0].split("proc_").length > 2,
					"exit code": /\b7\b/.test(results[1]),
					"all output": allTicks(results[2] ?? "", 25),
					shell: /\/tmp\b[\s\S]*hello Jo/.test(results[3]),
				},
				client.name && "ok: shell, processes, every line and the exit code",
			);
		},
	},
	{
		id: "interrupt",
		title: "Ctrl-C in the middle of a call",
		async run(stage, { client }) {
			const scene = stage.scene("interrupt");
			const run = scene.start([turn(terminal("echo begun; sleep 1000", { timeout: 300 }))]);
			const processes = () => scene.holdfast("ps", "--all").processes;
			await until(() => processes().some(({ output_preview }) => output_preview?.includes("begun")));
			process.kill(-run.pid, "SIGINT"); // to all of the group, as a terminal does
			await run.ended;
			const wanted = client.cancels ? "killed" : "running";
			await until(() => processes()[0]?.status === wanted);
			return verdict({ [wanted]: processes()[0]?.status === wanted }, `ok: ${client.cancels ? "killed" : "it cancels nothing; runs on, and is listed"}`);
		},
	},
	{
		id: "exit",
		title: "normal exit with things in the background, then a new client",
		async run(stage) {
			const scene = stage.scene("exit");
			await scene.play([
				turn(terminal("cd /tmp; export NAME=Jo")),
				turn(terminal("while :; do sleep 1; done", { background: true })),
				turn(terminal("python3 -q", { background: true, pty: true })),
			]);
			const { results } = await scene.play([turn(processCall("list")), turn(terminal("pwd; echo hello $NAME"))]);
			return verdict({
				"two processes": results[0].match(/running/g)?.length === 2 && !/SIGTERM|lost|exited/.test(results[0]),
				shell: /\/tmp\b[\s\S]*hello Jo/.test(results[1]),
			});
		},
	},
	{
		id: "keys",
		title: "python3 on a terminal, with keys",
		async run(stage) {
			const { results } = await stage
				.scene("keys")
				.play([
					turn(terminal("python3 -q", { pty: true })),
					turn({ tool: "terminal", args: { input_keys: "6*7<ENTER>" } }),
					turn({ tool: "terminal", args: { input_keys: "exit(3)<ENTER>" } }),
				]);
			return verdict({ prompt: /awaiting_input[\s\S]*>>>/.test(results[0]), answer: /42/.test(results[1]), end: /exited[\s\S]*\b3\b/.test(results[2]) });
		},
	},
	{
		id: "approval",
		title: "a command that a person has to allow, with no person there",
		async run(stage) {
			const { results } = await stage.scene("approval").play([turn(terminal("git push --force origin main")), turn(terminal("git push --force origin main"))]);
			return verdict(
				{ pending: results.every((text) => /pending_approval/.test(text)), "no person said no": !results.some((text) => SAID_NO.test(text)) },
				"ok: pending_approval",
			);
		},
	},
	{
		id: "large",
		title: "190 KB of output and exit code 3",
		async run(stage) {
			const { results } = await stage.scene("large").play([turn(terminal('seq -f "line %.0f of a long output" 1 7000; echo the last line; (exit 3)'))]);
			const [text = ""] = results;
			const code = text.search(/exit.code"?:? ?3/);
			return verdict(
				{
					"exit code before the output": code >= 0 && code < text.indexOf("line 1 of"),
					"the end": text.includes("the last line"),
					"says what is cut": /omitted|left out/.test(text),
				},
				`ok: ${text.length.toLocaleString("en")} characters`,
			);
		},
	},
	{
		id: "notices",
		title: "a notice comes with a later result, once",
		async run(stage) {
			const { results } = await stage
				.scene("notices")
				.play([
					turn(terminal("sleep 1; echo finished", { background: true, notify_on_complete: true })),
					turn(terminal("sleep 4")),
					turn(terminal("true")),
					turn(terminal("true")),
				]);
			const told = results.slice(1).filter((text) => /notice/i.test(text) && text.includes(idIn(results[0]))).length;
			return verdict({ [`once (was ${told} times)`]: told === 1 });
		},
	},
	{
		id: "three",
		title: "three calls in one turn",
		async run(stage, { client }) {
			const more = client.added ?? {};
			const { results } = await stage
				.scene("three")
				.play([
					turn(terminal("true")),
					turn(terminal("cd /usr; A=1", more), terminal("B=2; sleep 0.3", more), terminal("pwd; echo sum $A$B", more)),
					turn(terminal("pwd; echo then $A$B")),
				]);
			const serial = /\/usr\b[\s\S]*sum 12/.test(results[3]);
			const aside = results.filter((text) => /shell of its own/.test(text)).length;
			return verdict(
				{
					"all answered": results.length === 5 && !results.some((text) => /wait_for_previous|no parameter/.test(text)),
					"first keeps the shell": /\/usr\b[\s\S]*then 1/.test(results[4]),
				},
				serial ? "ok: in order, state kept" : `ok: at the same time, ${aside} in a shell aside, and told so`,
			);
		},
	},
	{
		id: "tools",
		title: "what the model gets of the tools",
		async run(stage, { tokens }) {
			const { requests } = await stage.scene("tools").play([turn(terminal("true"))]);
			const ours = requests[0].tools.filter(({ name, namespace }) => (namespace ?? name).includes("holdfast"));
			const text = ours.map(({ bytes }) => JSON.stringify(bytes)).join("\n");
			const instructions = requests.some(({ text: body }) => body.includes("gives you a terminal that holds"));
			return verdict(
				{ terminal: ours.some(({ name }) => name.endsWith("terminal")), process: ours.some(({ name }) => name.endsWith("process")), instructions },
				`${ours.length} tools, ${Buffer.byteLength(text).toLocaleString("en")} B, ${tokens(text).toLocaleString("en")} tokens`,
			);
		},
	},
	{
		id: "cost",
		title: "tokens of a result: `true`; `top` on a terminal; `q` there; a list of two",
		async run(stage, { tokens }) {
			const { results } = await stage
				.scene("cost")
				.play([
					turn(terminal("sleep 1000", { background: true })),
					turn(terminal("true")),
					turn(terminal("top", { pty: true })),
					turn({ tool: "terminal", args: { input_keys: "q" } }),
					turn(processCall("list")),
				]);
			return {
				good: results.length === 5,
				says: results
					.slice(1)
					.map((text) => tokens(text).toLocaleString("en"))
					.join("; "),
			};
		},
	},
	{
		id: "start",
		title: "tools in the first request, five starts",
		async run(stage, { client }) {
			const starts = async (patient) => {
				let there = 0;
				for (let round = 0; round < 5; round++) {
					const { requests } = await stage.scene(`start-${patient}-${round}`, { patient }).play([{ say: "Done." }]);
					if (requests[0]?.tools.some(({ name, namespace }) => (namespace ?? name).includes("holdfast") && name.endsWith("terminal"))) there++;
				}
				return there;
			};
			const usual = await starts(false);
			const waiting = client.patient ? await starts(true) : usual;
			return { good: waiting === 5, says: `${usual} of 5${client.patient ? `; ${waiting} of 5 where it is told to wait` : ""}` };
		},
	},
];
