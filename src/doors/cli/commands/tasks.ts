import { REMOTE_MS } from "../../../base/index.js";
import { type CliCall, type CommandBody, EXIT, noWords } from "../command.js";
import { oneLine } from "../output.js";
import { type TaskLine, taskList } from "../tasks.js";
import { age } from "../waits.js";

export const tasks: CommandBody = {
	name: "tasks",
	usage: "",
	options: {},
	teach: `
A task is listed while it has something: a process or a shell that runs, or a question that waits. CLIENT is about its MCP client:
connected; silent, over HTTP with nothing open; or gone, which may come back to it; - where there is none, or \`holdfast mcp --task\` named the task. WAITING counts programs that wait for a
line or a password, and questions for a person. LAST: since a call, a start or some output. WHO: what the client calls itself, and its version.
With --json: {tasks: [{task, client, client_name, client_version, silent_since, gone_since, running, waiting, shells, last_activity}]}.

Examples
  holdfast tasks
  holdfast tasks --json | jq -r '.tasks[] | select(.client == "gone").task'`,
	async run(call) {
		noWords(call);
		const { out } = call;
		const runtime = await call.runtime();
		for (const note of await runtime.sync({ task: null, shells: true, ms: REMOTE_MS.person })) out.remark(note);
		const found = await taskList(runtime);
		if (out.json) out.data({ tasks: found });
		else if (found.length === 0) out.note("no task has anything that runs or waits");
		else {
			out.table(
				["CLIENT", "WHO", "RUNNING", "WAITING", "SHELLS", "LAST", "TASK"],
				found.map((item) => [
					clientWords(item, out),
					oneLine(`${item.client_name ?? "-"} ${item.client_version ?? ""}`, 40),
					String(item.running),
					item.waiting > 0 ? out.style("yellow", String(item.waiting)) : "0",
					String(item.shells),
					since(item.last_activity),
					oneLine(item.task, 200),
				]),
				{ drop: ["SHELLS", "WHO", "LAST", "RUNNING"] },
			);
			if (found.some(({ client }) => client === "gone")) out.note("`holdfast end --gone` ends those whose client is gone (--older-than 1d: for a day)");
		}
		return EXIT.ok;
	},
};

function clientWords({ client, silent_since, gone_since }: TaskLine, out: CliCall["out"]): string {
	if (client === "connected") return out.style("green", "connected");
	if (silent_since !== null) return `silent ${since(silent_since)}`;
	return gone_since !== null ? `gone ${since(gone_since)}` : "-";
}

const since = (time: string): string => age(Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000)));
