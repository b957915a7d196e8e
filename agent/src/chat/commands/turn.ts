/** Commands about the turn under way, and about what waits for a person. */
import type { Approval, Choice, Reply } from "holdfast";
import { AgentError } from "../../base/index.js";
import type { BusyMode } from "../../talk/index.js";
import { digitsOf } from "../banner.js";
import { oneLine } from "../render/visible.js";
import type { CommandContext, SlashCommand } from "./command.js";

const says = (mode: BusyMode, summary: string): SlashCommand => ({
	name: mode,
	usage: "[TEXT]",
	summary,
	group: "turn",
	async run({ agent: { conversation }, by, message }, rest) {
		if (rest !== "") {
			await conversation.send(rest, by, { mode, ...(message === undefined ? {} : { id: message }) });
			return undefined;
		}
		await conversation.setMode(mode);
		return `From here on, a message that comes while the agent works ${DOES[mode]}.`;
	},
});

const DOES: Readonly<Record<BusyMode, string>> = {
	steer: "is told to it at once; a running command goes on in the background",
	queue: "waits until it is done",
	interrupt: "stops it first",
};

export const TURN: readonly SlashCommand[] = [
	{
		name: "stop",
		usage: "",
		summary: "stop the turn; processes in the background go on",
		group: "turn",
		async run({ agent: { conversation } }) {
			return (await conversation.interrupt()) ? undefined : "Nothing is under way.";
		},
	},
	says("steer", "tell the agent something while it works"),
	says("queue", "say something after it is done"),
	says("interrupt", "stop it first, then say something"),
	{
		name: "approve",
		usage: "[ID|all]",
		summary: "let a command run that waits; with task or always: for longer",
		group: "turn",
		words: ({ agent }) => [...waiting(agent).map(({ id }) => digitsOf(id)), "all"],
		async run(context, rest) {
			const [first = "", second = ""] = rest.split(/\s+/);
			if (first.toLowerCase() === "all") return approveAll(context);
			const lone = GIVES[first.toLowerCase()]; // "/approve always": there is one question
			const approval = chosen(context, lone ? "" : first);
			const answer = lone ?? GIVES[(second || "once").toLowerCase()];
			if (!answer) throw new AgentError("INVALID", `"${second}" cannot be allowed; give nothing, task (this conversation) or always`);
			return answered(context, approval, { answer });
		},
	},
	{
		name: "deny",
		usage: "[ID] [REASON]",
		summary: "refuse it; the agent is told the reason",
		group: "turn",
		words: ({ agent }) => waiting(agent).map(({ id }) => digitsOf(id)),
		async run(context, rest) {
			const [, digits = "", behind] = /^(?:appr_)?([0-9a-f]{4,12})(?:\s+(.*))?$/is.exec(rest) ?? [];
			const reason = digits === "" ? rest : (behind ?? "");
			const approval = chosen(context, digits);
			return answered(context, approval, { answer: "no", ...(reason.trim() === "" ? {} : { message: reason.trim() }) });
		},
	},
];

const GIVES: Readonly<Record<string, Choice>> = { once: "once", task: "task", always: "always" };

const waiting = ({ runtime, conversation }: CommandContext["agent"]): Approval[] => runtime.approvals.list({ task: conversation.task.name });

/** One by its digits; without digits the only one. */
function chosen({ agent }: CommandContext, digits: string): Approval {
	const open = waiting(agent);
	const fit = digits === "" ? open : open.filter(({ id }) => id.replace("appr_", "").startsWith(digits.replace(/^appr_/i, "").toLowerCase()));
	const [only] = fit;
	if (only && fit.length === 1) return only;
	if (open.length === 0) throw new AgentError("NOT_FOUND", "no question waits for an answer");
	throw new AgentError("NOT_FOUND", `${digits === "" ? "several questions wait" : `no question is "${digits}"`}; there are\n${open.map(shown).join("\n")}`);
}

const shown = ({ id, command }: Approval): string => `${digitsOf(id)}  ${oneLine(command, 100)}`;

async function answered({ agent, by }: CommandContext, { id }: Approval, reply: Pick<Reply, "answer" | "message">): Promise<string> {
	const answer = await agent.runtime.approvals.answer(id, { ...reply, by: `${by.platform}, ${by.name ?? by.person}` });
	if (!agent.conversation.busy) agent.conversation.resume(); // its call has given up waiting: it is made again
	return `${digitsOf(id)}: ${answer.answer}`;
}

/** Lists them first, and gives nothing for longer than once. */
async function approveAll(context: CommandContext): Promise<string> {
	const open = waiting(context.agent);
	if (open.length === 0) return "No question waits for an answer.";
	const lines = open.map(shown);
	for (const approval of open) await answered(context, approval, { answer: "once" });
	return `Allowed once:\n${lines.join("\n")}`;
}
