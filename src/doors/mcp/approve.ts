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
import type { Approval, Approver, Choice, Reply, Unanswered } from "../../approvals/index.js";
import { visible } from "../../base/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import { clientName } from "./client.js";

const SHOWN = 4_000;
const SHOWN_PART = 500;

type Approvals = AgentRuntime["approvals"];

export interface Asking {
	/** While the call waits, or between two calls. */
	readonly when: "meanwhile" | "later";
	/** The form has a field for words to the model. Codex (0.166) cannot send a form with a field that was left empty. */
	readonly message: boolean;
}

/** Only a client that says it can. */
export function howToAsk(server: Server, context: ServerContext): Asking | undefined {
	const envelope = context.mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
	const capabilities = envelope ? envelope[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
	if (!hasForms(capabilities)) return undefined;
	return { when: envelope ? "later" : "meanwhile", message: !(clientName(server, context) ?? "").startsWith("codex") };
}

/** A client that names no mode has forms, as it was before there were modes. */
function hasForms(capabilities: ClientCapabilities | undefined): boolean {
	const { elicitation } = capabilities ?? {};
	return elicitation !== undefined && (elicitation.form !== undefined || Object.keys(elicitation).length === 0);
}

export function askThrough({ mcpReq }: ServerContext, how: Asking): Approver {
	return async (approval, signal) => {
		const timeout = Math.max(1, Date.parse(approval.expires_at) - Date.now());
		const { action, content } = await mcpReq.elicitInput(formOf(approval, how), { signal, timeout });
		return replyOf(approval, action, content);
	};
}

/** A result that waits for a person, as the question that the client is to put to them. */
export function questionFor(approvals: Approvals, { structuredContent }: CallToolResult, how: Asking): InputRequiredResult | undefined {
	const { status, approval_id } = (structuredContent ?? {}) as { status?: string; approval_id?: string };
	if (status !== "pending_approval" || approval_id === undefined) return undefined;
	return inputRequired({ inputRequests: { [approval_id]: inputRequired.elicit(formOf(approvals.get(approval_id), how)) } });
}

/**
 * Records the answers of the client, only to questions of its own task. A question that was answered in another way meanwhile stays as it is.
 * Returns why there is no answer if the client has none: to ask it again at once would be to ask for ever.
 */
export async function takeAnswers(approvals: Approvals, task: string, { mcpReq: { inputResponses = {} } }: ServerContext): Promise<Unanswered | undefined> {
	let unanswered: Unanswered | undefined;
	for (const key of Object.keys(inputResponses)) {
		const response = inputResponse(inputResponses, key);
		const approval = approvals.list({ task }).find(({ id }) => id === key);
		if (!approval || response.kind !== "elicit") continue;
		const reply = replyOf(approval, response.action, response.content);
		if ("unanswered" in reply) unanswered = reply;
		else await approvals.answer(key, reply).catch(() => {}); // the call says how it stands
	}
	return unanswered;
}

/** Claude Code shows three lines of the message and all of a field's description: so the reason is in line 2, and in both. */
function formOf({ command, cwd, parts, choices }: Approval, { message }: Asking): ElicitRequestFormParams {
	const why = parts.map(({ text, reason, rule }) => {
		const part = parts.length > 1 ? `: ${visible(text).replaceAll(/\s+/g, " ").slice(0, SHOWN_PART)}` : "";
		return `${reason} (${rule})${part}`;
	});
	const because = `Because: ${why.join("; ")}`;
	return {
		mode: "form",
		message: `An agent wants to run this in ${visible(cwd)}:\n${because}\n${shown(visible(command))}`,
		requestedSchema: {
			type: "object",
			properties: {
				answer: {
					type: "string",
					title: "Allow it?",
					description: `${because}. ${choices.map((choice) => MEANINGS[choice]).join("; ")}`,
					enum: [...choices],
				},
				...(message
					? { message: { type: "string", title: "Message for the agent", description: "If you like: why, or what to do instead.", maxLength: 2_000 } }
					: {}),
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

/**
 * Only what was chosen in the form is a person's answer. Clients decline and cancel by themselves: `codex exec` and `claude -p` do
 * so without showing it, and there it cannot be told from a person's key. So the question stays open.
 */
function replyOf({ choices }: Approval, action: string, content: Record<string, unknown> | undefined): Reply | Unanswered {
	if (action === "decline") return { unanswered: "the client declined the question, perhaps without showing it to a person" };
	const { answer, message } = content ?? {};
	const given = action === "accept" ? choices.find((choice) => choice === answer) : undefined;
	if (given === undefined) return { unanswered: "the client closed the question without an answer" };
	return { answer: given, by: "mcp client", ...(typeof message === "string" && message.trim() !== "" ? { message: message.slice(0, 2_000) } : {}) };
}
