/** Commands about the model, the place and the tools. */
import { AgentError } from "../../base/index.js";
import { offWords } from "../../tools/index.js";
import { checkPlace, parsePlace } from "../../turn/index.js";
import type { SlashCommand } from "./command.js";

const REACH_MS = 60_000;

export const TOOLS: readonly SlashCommand[] = [
	{
		name: "model",
		usage: "[NAME]",
		summary: "show the model, or use another one of the endpoint",
		group: "model and tools",
		async run({ agent }, rest) {
			const { model } = agent.conversation;
			if (rest === "") return `${model.name} at ${agent.endpoint.endpoint.url}; \`holdfast-agent models\` lists others, /model NAME uses one.`;
			if (rest === model.name) return `It is ${rest} already.`;
			await agent.conversation.setModel(await agent.model(rest));
			return agent.unlisted(rest); // that it is another one the log's own line says
		},
	},
	{
		name: "tools",
		usage: "",
		summary: "which tools there are, what is off and why",
		group: "model and tools",
		run({ agent: { conversation } }) {
			const sets = conversation.toolsets.map(({ name, description, availability }) =>
				availability.ok ? `${name}: ${description}` : `${name} ${offWords(availability)}`,
			);
			const failures = [...conversation.statistics]
				.filter(([, { failed }]) => failed > 0)
				.map(([tool, { calls, failed }]) => `${tool}: ${failed} of ${calls} calls failed`);
			return [...sets, `tools: ${conversation.tools.join(", ") || "none"}`, ...failures].join("\n");
		},
	},
	{
		name: "place",
		usage: "[PLACE]",
		summary: "show where commands run, or move to another place",
		group: "model and tools",
		words: () => ["local", "local+sandbox"],
		async run({ agent: { conversation, runtime } }, rest) {
			if (rest === "") return `Commands run at ${conversation.place}.`;
			await checkPlace(runtime, parsePlace(rest));
			const { status, output, error } = await conversation.task.terminal({ command: "pwd" }, { place: parsePlace(rest), within: REACH_MS, door: "agent chat" });
			if (status !== "exited") throw new AgentError("INVALID", `${error ?? `${rest} does not answer`}. Commands run at ${conversation.place} as before.`);
			await conversation.setPlace(rest);
			return `Commands run at ${rest} from here on, in ${output.trim()}, in a shell of their own there. What runs at other places goes on.`;
		},
	},
	{
		name: "todo",
		usage: "",
		summary: "the agent's list of steps",
		group: "model and tools",
		run({ agent: { conversation } }) {
			const { todo } = conversation;
			return todo.length === 0 ? "The list is empty." : todo.map(({ text, state }) => `${MARKS[state]} ${text}`).join("\n");
		},
	},
];

const MARKS = { pending: "[ ]", doing: "[>]", done: "[x]", dropped: "[-]" } as const;
