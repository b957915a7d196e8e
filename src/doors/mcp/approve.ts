/**
 * Asking the person behind an MCP client whether a command may run: `elicitation/create` while the call waits in the older
 * protocol, a result that says which input is required in the newer one, where the client makes the call again with the answer.
 */
import {
	type CallToolResult,
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	type ElicitRequestFormParams,
	type InputRequiredResult,
	inputRequired,
	inputResponse,
	type Server,
	type ServerContext,
} from "@modelcontextprotocol/server";
import type { Approval, Approver, Choice, Reply } from "../../approvals/index.js";
import { visible } from "../../base/text.js";
import type { AgentRuntime } from "../../tools/index.js";

const SHOWN = 4_000;

type Approvals = AgentRuntime["approvals"];

export type Asking = "meanwhile" | "later";

/** Only a client that says it can. */
export function howToAsk(server: Server, { mcpReq }: ServerContext): Asking | undefined {
	const envelope = mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
	if (envelope) return hasForms(envelope[CLIENT_CAPABILITIES_META_KEY]) ? "later" : undefined;
	return hasForms(server.getClientCapabilities()) ? "meanwhile" : undefined;
}

/** A client that names no mode has forms, as it was before there were modes. */
function hasForms(capabilities: ClientCapabilities | undefined): boolean {
	const { elicitation } = capabilities ?? {};
	return elicitation !== undefined && (elicitation.form !== undefined || Object.keys(elicitation).length === 0);
}

export function askThrough({ mcpReq }: ServerContext): Approver {
	return async (approval, signal) => {
		const timeout = Math.max(1, Date.parse(approval.expires_at) - Date.now());
		const { action, content } = await mcpReq.elicitInput(formOf(approval), { signal, timeout });
		return replyOf(approval, action, content);
	};
}

/** A result that waits for a person, as the question that the client is to put to them. */
export function questionFor(approvals: Approvals, { structuredContent }: CallToolResult): InputRequiredResult | undefined {
	const { status, approval_id } = (structuredContent ?? {}) as { status?: string; approval_id?: string };
	if (status !== "pending_approval" || approval_id === undefined) return undefined;
	return inputRequired({ inputRequests: { [approval_id]: inputRequired.elicit(formOf(approvals.get(approval_id))) } });
}

/** What the client brings back; only about questions of its own task. One that was answered elsewhere meanwhile stays as it is. */
export async function takeAnswers(approvals: Approvals, task: string, { mcpReq: { inputResponses = {} } }: ServerContext): Promise<void> {
	for (const key of Object.keys(inputResponses)) {
		const response = inputResponse(inputResponses, key);
		const approval = approvals.list({ task }).find(({ id }) => id === key);
		if (!approval || response.kind !== "elicit") continue;
		await approvals.answer(key, replyOf(approval, response.action, response.content)).catch(() => {}); // the call says how it stands
	}
}

function formOf({ command, cwd, parts, choices }: Approval): ElicitRequestFormParams {
	const why = parts.map(({ text, reason, rule }) => `- ${reason} (${rule}): ${visible(text).slice(0, 500)}`);
	return {
		mode: "form",
		message: `An agent wants to run this in ${visible(cwd)}:\n\n${shown(visible(command))}\n\n${why.join("\n")}`,
		requestedSchema: {
			type: "object",
			properties: {
				answer: { type: "string", title: "Allow it?", description: choices.map((choice) => MEANINGS[choice]).join("; "), enum: [...choices] },
				message: { type: "string", title: "Message for the agent", description: "If you like: why, or what to do instead.", maxLength: 2_000 },
			},
			required: ["answer"],
		},
	};
}

const shown = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters in all)` : text);

const MEANINGS: Readonly<Record<Choice, string>> = {
	once: "once: this one run",
	task: "task: this command here, for the rest of the task",
	always: "always: adds a rule to policy.json",
	no: "no: it is not run",
};

/** To decline, to close the form, or to send it empty is a no. */
function replyOf({ choices }: Approval, action: string, content: Record<string, unknown> | undefined): Reply {
	const { answer, message } = content ?? {};
	const given = action === "accept" ? choices.find((choice) => choice === answer) : undefined;
	return { answer: given ?? "no", by: "mcp client", ...(typeof message === "string" && message.trim() !== "" ? { message: message.slice(0, 2_000) } : {}) };
}
