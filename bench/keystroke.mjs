/** From a key that is typed to its echo, at a program on a terminal that reads and says nothing itself. */
import { LiveScreen } from "../dist/screen/index.js";
import { install } from "./install.mjs";
import { byTurns, median, percentile, timed, within } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

const NODE_PTY = "node-pty@1.1.0";
const READER = "stty -icanon min 1; cat >/dev/null"; // key by key: the line buffer of a terminal would be full after 4096
const SIZE = { cols: 80, rows: 24 };
const GAP_MS = 5;
const PERSON_MS = 100; // between the keys of somebody who types fast; every core may be asleep by then
const ECHO_MS = 5_000;

export default async function keystroke(bench) {
	const rounds = bench.count(10, 3);
	const block = bench.count(50, 20);
	const holdfast = await kept(bench);
	const other = await nodePty(bench);
	const contestants = [{ name: "holdfast", terminal: holdfast }, ...(other.missing ? [] : [{ name: "node-pty", terminal: other }])];
	for (const { terminal } of contestants) for (let i = 0; i < block; i++) await terminal.type();
	const rendering = [];
	const times = await byTurns(rounds, [
		...contestants.map(({ name, terminal }) => ({ name, time: terminal.type, block, gap: GAP_MS })),
		...contestants.map(({ name, terminal }) => ({ name: apart(name), time: terminal.type, block: block / 5, gap: PERSON_MS })),
		{
			name: "shown",
			time: async () => {
				const echo = await holdfast.type();
				const render = await timed(() => holdfast.screen.read());
				rendering.push(render);
				return echo + render;
			},
			block,
			gap: GAP_MS,
		},
	]);
	const beside = (of, name = "node-pty") => [
		other.missing ? { name: "node-pty", missing: other.missing } : { name: "node-pty", value: 1_000 * of(times[name]) },
	];
	const result = (what, name, of, more = {}) => row({ what, value: 1_000 * of(times[name]), unit: "µs", ...more });
	const p90 = (values) => percentile(values, 0.9);
	return [
		result("key to the log callback with its echo", "holdfast", median, { baselines: beside(median), target: atMost(1.5) }),
		result("the same, p90", "holdfast", p90, { baselines: beside(p90) }),
		result(`the same, ${PERSON_MS} ms apart`, apart("holdfast"), median, { baselines: beside(median, apart("node-pty")) }),
		result("key to the rendered screen with its echo", "shown", median, { baselines: beside(median) }),
		row({ what: "rendering alone: the screen after one more key", value: 1_000 * median(rendering), unit: "µs" }),
	];
}

const apart = (name) => `${name}, apart`;

async function kept(bench) {
	const runtime = await bench.runtime("keystroke");
	const process = await runtime.spawn({ command: READER, terminal: SIZE });
	const screen = new LiveScreen(process);
	bench.atEnd(() => screen.dispose());
	const typist = echoes((key) => process.write(key));
	void (async () => {
		for await (const slice of process.follow()) typist.heard(slice.bytes.length);
	})();
	return { type: typist.type, screen };
}

/** The library that most terminals in Node are made with. It has a part to compile, for which it needs the headers of Node and a compiler. */
async function nodePty(bench) {
	const { load, missing } = await install(bench, "node-pty", [NODE_PTY], { scripts: true });
	if (missing) return { missing };
	let pty;
	try {
		pty = load("node-pty");
	} catch (error) {
		return { missing: error.message.split("\n")[0].slice(0, 120) };
	}
	const child = pty.spawn("bash", ["-c", READER], SIZE);
	const ended = new Promise((resolve) => child.onExit(resolve));
	bench.atEnd(() => {
		child.kill("SIGKILL");
		return ended;
	});
	const typist = echoes((key) => child.write(key));
	child.onData((text) => typist.heard(text.length));
	return { type: typist.type };
}

/** `type` writes a key and resolves to the ms until its echo is heard. */
function echoes(write) {
	let hear;
	const heard = () => hear?.(performance.now());
	const type = async () => {
		const echo = new Promise((resolve) => {
			hear = resolve;
		});
		const begun = performance.now();
		const written = write("x");
		const at = await within(ECHO_MS, "a key's echo", echo);
		await written;
		return at - begun;
	};
	return { type, heard };
}
