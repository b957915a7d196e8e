import { HoldfastError, parseSeconds } from "../../../base/index.js";
import { describeEnd, isOver, maskedMatch, summary, type Until } from "../../../process/index.js";
import { type CommandBody, EXIT, oneWord } from "../command.js";
import { processOf, tellOfReach } from "../look.js";
import { secondsOption } from "../quantity.js";

export const wait: CommandBody = {
	name: "wait",
	usage: "ID [--until CONDITION] [--timeout TIME]",
	options: {
		until: { type: "string", value: "CONDITION", help: "exit (default), or one or more of those below, joined by commas" },
		timeout: { type: "string", value: "TIME", help: "stop waiting after this long: 30, 30s, 5m (default: never); the process is not touched" },
		from: { type: "string", value: "OFFSET", help: "where a pattern starts to look (default: at the oldest output)" },
	},
	teach: `
Conditions: the first that holds ends the wait, and so does the exit.
  exit                    it has ended
  pattern=REGEX           its output matches (a JavaScript regular expression, ^ and $ at lines); must come last, since it may contain commas
  port=NUMBER             a connection is accepted there, on the machine that the process is on
  http=URL                it answers 200 to 399 (status=NUMBER: exactly that)
  silence=TIME            it has printed nothing for so long: 2, 2s, 1m

Exit code: 0 when a condition held, 124 when the time was up. When it exits: its own code if that was waited for, 1 if not.

Examples
  holdfast wait 3f2a --timeout 60
  holdfast wait 3f2a --until 'port=8080,pattern=[Ee]rror' --timeout 30
  holdfast wait 3f2a --until http=http://127.0.0.1:8080/,status=200`,
	async run(call) {
		const until = parseUntil(String(call.values.until ?? "exit"));
		const seconds = secondsOption(call, "timeout");
		const from = call.values.from === undefined ? undefined : Number(call.values.from);
		const process = await processOf(call, oneWord(call, "the id of one process"));
		const untell = tellOfReach(call, process);
		const found = await process
			.wait({ until, ...(seconds === undefined ? {} : { timeout: seconds * 1000 }), ...(from === undefined ? {} : { from }) })
			.finally(untell);
		const result = found.match === undefined ? found : { ...found, match: maskedMatch(process, found.match, found.offset) };
		if (call.out.json)
			call.out.data({
				...summary(process, result.status),
				matched: result.matched,
				timed_out: result.timedOut,
				byte_offset: result.offset,
				...(result.match === undefined ? {} : { match: result.match }),
			});
		else if (result.timedOut) call.out.note(`not within ${seconds} s: ${call.values.until ?? "exit"}; it is still running, which is not an error`);
		else call.out.line(result.matched === "exit" ? describeEnd(result.status) : `${result.matched}${result.match === undefined ? "" : `: ${result.match}`}`);
		if (result.timedOut) return EXIT.timeout;
		if (result.matched !== "exit") return EXIT.ok;
		if (!until.exit || !isOver(result.status)) return EXIT.failed;
		return "exitCode" in result.status ? (result.status.exitCode ?? EXIT.failed) : EXIT.failed;
	},
};

function parseUntil(text: string): Until {
	const until: Record<string, unknown> = {};
	for (let rest = text; rest !== ""; ) {
		const [, name, isValue] = /^([a-z]+)(=)?/.exec(rest) ?? [];
		if (!name) throw new HoldfastError("INVALID", `--until: cannot read "${rest}"; write for example exit, port=8080 or pattern=REGEX`);
		rest = rest.slice(name.length + (isValue ? 1 : 0));
		const comma = name === "pattern" ? -1 : rest.indexOf(",");
		const value = comma < 0 ? rest : rest.slice(0, comma);
		rest = comma < 0 ? "" : rest.slice(comma + 1);
		if (name === "exit") until.exit = true;
		else if (name === "pattern" || name === "http") until[name] = value;
		else if (name === "silence") until[name] = parseSeconds(value) ?? value;
		else if (name === "port" || name === "status")
			until[name] = value.trim() === "" || Number.isNaN(Number(value)) ? value : Number(value); // what is no number is named as it is
		else throw new HoldfastError("INVALID", `--until: there is no condition "${name}"; there are exit, pattern, port, http (with status) and silence`);
	}
	return until as Until;
}
