/** Escape in a chat on a terminal: from the key to the word that the turn is stopped, with the prompt below it. */
import { byTurns, median, percentile, sleep, within } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

const SIZE = { cols: 100, rows: 30 };
const ESCAPE = "\u001b";

export async function escapes(bench, { command, env, models, scripted }) {
	scripted.now = ({ said }) =>
		said === "write"
			? models.say("Words that come one after the other. ".repeat(2_000), { wire: { dripMs: 5, chunk: 12 } })
			: models.calls(["terminal", { command: "echo begun; sleep 600" }]);
	const runtime = await bench.runtime("agent-escapes");
	const program = await runtime.spawn({ command, env, terminal: SIZE });
	const { shown, stop } = reader(program);
	await within(60_000, command, shown("› "));
	const contestant = (name, sign) => ({
		name,
		block: 1,
		time: async () => {
			await program.write(`${name}\r`);
			await within(60_000, `${name} begins`, shown(sign));
			await sleep(200); // it is in the middle of it
			const begun = performance.now();
			await program.write(ESCAPE);
			await within(60_000, `${name} is stopped`, shown("Stopped."));
			return performance.now() - begun;
		},
	});
	const contestants = [contestant("write", "one after the other"), contestant("run", "sleep 600")];
	await byTurns(2, contestants);
	const times = await byTurns(bench.count(20, 4), contestants);
	await stop();
	await program.kill({ graceMs: 0 });
	const one = (what, values) =>
		row({ what, value: median(values), unit: "ms", note: `nine of ten within ${percentile(values, 0.9).toFixed(0)} ms`, target: atMost(300, "ms") });
	return [one("Escape while an answer arrives, to the prompt", times.write), one("Escape while `sleep 600` runs, to the prompt: its tree is gone", times.run)];
}

/** `shown` resolves when a text is shown that was not shown at the last call. */
function reader(program) {
	const pieces = program.follow()[Symbol.asyncIterator]();
	let text = "";
	const shown = async (sign) => {
		for (;;) {
			const at = text.indexOf(sign);
			if (at >= 0) {
				text = text.slice(at + sign.length);
				return;
			}
			const { value, done } = await pieces.next();
			if (done) throw new Error(`it never showed ${JSON.stringify(sign)}: ${text}`);
			text += value.bytes.toString("utf8");
		}
	};
	return { shown, stop: () => pieces.return?.() };
}
