import { HoldfastError } from "../../../base/index.js";
import { processCalled, runningServer } from "../../../process/index.js";
import { makeLink } from "../../../tools/index.js";
import { type CommandBody, EXIT } from "../command.js";
import { namesOf } from "../look.js";
import { secondsOption } from "../quantity.js";

export const link: CommandBody = {
	name: "link",
	usage: "ID [--keyboard] [--for TIME]",
	options: {
		keyboard: { type: "boolean", help: "it may take the keyboard: one browser, once" },
		for: { type: "string", value: "TIME", help: "how long it works: 30m, 12h (default 1d; with --keyboard 10m)" },
	},
	teach: `
A visitor with the link sees this one terminal, live, with stars in place of secrets, and can do nothing to it. With --keyboard
the first browser that opens it may type, until it hands the keyboard back, the time is up or the process ends; for any other
browser the link is of no use. \`holdfast serve\` must run on this home. The page withdraws links.

Examples
  holdfast link 3f2a
  holdfast link 3f2a --keyboard --for 5m`,
	async run(call) {
		const [id, ...more] = call.words;
		if (id === undefined || more.length > 0) throw new HoldfastError("INVALID", "give the id of one process; `holdfast ps` lists them");
		const runtime = await call.agent();
		const server = runningServer(runtime.home.root);
		if (!server) throw new HoldfastError("NOT_FOUND", "no `holdfast serve` runs on this home, so a link could not be opened; start one");
		const given = secondsOption(call, "for");
		if (given !== undefined && given < 60) throw new HoldfastError("INVALID", `--for takes a minute at least, not "${call.values.for}"`);
		const seconds = given === undefined ? undefined : Math.round(given);
		const { id: session_id } = processCalled(runtime, id, namesOf(call));
		const { hash: _, ...made } = makeLink(runtime, { session_id, keyboard: call.values.keyboard === true, seconds });
		if (call.out.json) call.out.data(made);
		else {
			call.out.line(made.url ?? "");
			call.out.note(`works until ${made.expires_at}${made.keyboard ? ", in the first browser that opens it" : ""}`);
		}
		return EXIT.ok;
	},
};
