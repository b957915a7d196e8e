import { HoldfastError } from "../../../base/index.js";
import { listSandboxes, pruneSandboxes, type SandboxItem, stopSandbox } from "../../../process/index.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { oneLine } from "../output.js";

export const sandboxes: CommandBody = {
	name: "sandboxes",
	usage: "[list [--orphans] | stop ID… | prune [--all-homes]]",
	words: ["list", "stop", "prune"],
	options: {
		orphans: { type: "boolean", help: "with list: only orphans" },
		"all-homes": { type: "boolean", help: "with prune: also of homes on other hosts" },
	},
	teach: `
Sandboxes (--place local+sandbox) are those of this home; containers (docker://…) are found by their label, of every home,
on the usual engine, on those of \`places\` in config.json and on those that this home has used.
An orphan is one whose home is gone, whose maker was killed before it was on record, or a container that has ended by
itself and was not to be kept. prune removes those; stop ends any one, with all that runs in it.
A pod, or a sandbox of Modal, may belong to a home on another host, where it may be in use: prune leaves it alone unless
told --all-homes.

Exit code: 0; 1 when something could not be done, 3 when there is no such sandbox.

Examples
  holdfast sandboxes
  holdfast sandboxes --orphans --json
  holdfast sandboxes stop 3f2a
  holdfast sandboxes prune`,
	async run(call) {
		const [verb = "list", ...ids] = call.words;
		if (call.values["all-homes"] && verb !== "prune") throw new HoldfastError("INVALID", "--all-homes goes with prune");
		if (verb === "list" && ids.length === 0) return list(call);
		if (call.values.orphans) throw new HoldfastError("INVALID", "--orphans goes with list; `holdfast sandboxes prune` removes them");
		if (verb === "prune" && ids.length === 0) return prune(call);
		if (verb === "stop" && ids.length > 0) return stop(call, ids);
		throw new HoldfastError(
			"INVALID",
			verb === "stop" ? "give the id of at least one sandbox" : "say list, stop ID… or prune; see `holdfast sandboxes --help`",
		);
	},
};

async function list(call: CliCall): Promise<number> {
	const { out } = call;
	const { sandboxes: all, notes } = await listSandboxes(await call.runtime());
	const shown = call.values.orphans ? all.filter(({ orphan }) => orphan) : all;
	if (out.json) out.data({ sandboxes: shown, notes });
	else {
		if (shown.length === 0) out.note(call.values.orphans ? "no orphans" : "no sandboxes");
		else
			out.table(["ID", "KIND", "TASK", "STATE", "RUNNING", "SINCE", "ENDS", "WHAT"], shown.map(row), {
				drop: ["SINCE", "ENDS", "RUNNING", "KIND", "STATE", "TASK"],
			});
		for (const note of notes) out.note(note);
	}
	return EXIT.ok;
}

const row = (item: SandboxItem): string[] => [
	item.id,
	item.kind,
	oneLine(item.task, 20),
	item.orphan ? `${item.state}, orphan` : item.state,
	item.processes === null ? "-" : String(item.processes),
	item.started_at.slice(0, 16).replace("T", " "),
	item.ends_at?.slice(0, 16).replace("T", " ") ?? "-",
	oneLine(item.name, 60),
];

async function stop(call: CliCall, ids: readonly string[]): Promise<number> {
	const runtime = await call.runtime();
	const stopped: string[] = [];
	for (const id of ids) stopped.push(await stopSandbox(runtime, id));
	if (call.out.json) call.out.data({ stopped });
	else for (const line of stopped) call.out.line(line);
	return EXIT.ok;
}

async function prune(call: CliCall): Promise<number> {
	const result = await pruneSandboxes(await call.runtime(), { allHomes: call.values["all-homes"] === true });
	if (call.out.json) call.out.data(result);
	else {
		for (const line of result.removed) call.out.line(line);
		if (result.removed.length === 0) call.out.note("nothing to remove");
		for (const note of result.notes) call.out.note(note);
	}
	return EXIT.ok;
}
