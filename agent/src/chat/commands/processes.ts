/** Commands about processes and their terminals. */
import type { Process } from "holdfast";
import { AgentError } from "../../base/index.js";
import { oneLine } from "../render/visible.js";
import type { CommandContext, SlashCommand } from "./command.js";

const MINUTES = 10;

export const PROCESSES: readonly SlashCommand[] = [
	{
		name: "processes",
		usage: "",
		summary: "what runs in this conversation, and what has just ended",
		group: "processes",
		run({ agent: { conversation } }) {
			const all = conversation.task.processes();
			return all.length === 0 ? "No process runs." : all.map(describe).join("\n");
		},
	},
	{
		name: "link",
		usage: "[ID] [keyboard]",
		summary: "a link that shows one terminal in a browser",
		group: "processes",
		words: ({ agent }) => terminals(agent.conversation).map(({ id }) => id),
		run({ agent: { conversation, runtime } }, rest) {
			const words = rest.split(/\s+/).filter(Boolean);
			const keyboard = words.includes("keyboard");
			const wanted = words.find((word) => word !== "keyboard");
			const found = terminals(conversation).filter(({ id }) => wanted === undefined || id === wanted || id.startsWith(`proc_${wanted.replace(/^proc_/, "")}`));
			const [only] = found;
			if (!only || found.length > 1) throw new AgentError("NOT_FOUND", noTerminal(terminals(conversation), wanted));
			const { url } = runtime.links.create({ session_id: only.id, keyboard, ...(keyboard ? { seconds: MINUTES * 60 } : {}) });
			if (url === null) return "No page is served; start `holdfast serve` in another terminal, then ask again.";
			return `${url}\n${keyboard ? `The first browser that opens it may type, for ${MINUTES} minutes.` : "It can only look, for a day."}`;
		},
	},
];

const terminals = ({ task }: CommandContext["agent"]["conversation"]): Process[] => task.processes({ ended: false }).filter(({ spec }) => spec.terminal);

function noTerminal(there: readonly Process[], wanted: string | undefined): string {
	if (there.length === 0) return "no program runs on a terminal here; a link is for one that does";
	return `${wanted === undefined ? "several terminals are there" : `no terminal is "${wanted}"`}; there are\n${there.map(describe).join("\n")}`;
}

function describe(process: Process): string {
	const status = process.status();
	const code = status.status === "exited" || status.status === "killed" ? status.exitCode : null;
	const name = process.spec.name ? `${process.spec.name}: ` : "";
	return `${process.id}  ${status.status}${code === null ? "" : ` ${code}`}  ${name}${oneLine(process.spec.command, 100)}`;
}
