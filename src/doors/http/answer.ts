/**
 * The links in a notification that answer a question: `/answer/KEY`. The holder of one needs no login; it is signed with the token, for one
 * question, one answer and one target, until the question expires. To look at it does nothing (mail and chat programs do that by
 * themselves): only the button on the page answers. A question takes one answer, so a link works once, and none after any other answer.
 */
import type { Context, Hono } from "hono";
import { HoldfastError, visible } from "../../base/index.js";
import type { PushOptions } from "../../push/index.js";
import { problemOf } from "./refusal.js";
import { escapeHtml, type SmallPage, smallPage } from "./refusal-page.js";
import type { ApiContext } from "./routes/context.js";
import { type AnswerKey, answerKey, readAnswerKey } from "./sign.js";

const WORDS = {
	once: { ask: "Allow this command once?", button: "Allow once", done: "Allowed once" },
	no: { ask: "Deny this command?", button: "Deny", done: "Denied" },
};

/** Makes the links of a question. `page`: the address of the page, without a slash at its end. */
export function answerLinks(token: string, page: string): PushOptions["answerLinks"] {
	return ({ id, expires_at }, target) => {
		const link = (answer: "once" | "no") => `${page}/answer/${answerKey(token, { approval_id: id, answer, target, expiresAt: Date.parse(expires_at) })}`;
		return { once: link("once"), no: link("no") };
	};
}

export function installAnswers(app: Hono, api: ApiContext): void {
	app.get("/answer/:key", (context) =>
		withKey(context, api, ({ approval_id, answer }) => {
			const { command, cwd, place, task, expires_at } = pending(api, approval_id);
			const more = `<pre>${escapeHtml(visible(command))}</pre><form method="post"><button>${WORDS[answer].button}</button></form>`;
			const text = [`The agent of ${visible(task)} asks, in ${visible(cwd)} on ${place}. It waits until ${expires_at}.`];
			return smallPage(context, 200, { title: WORDS[answer].ask, text, more });
		}),
	);
	app.post("/answer/:key", (context) =>
		withKey(context, api, async ({ approval_id, answer, target }) => {
			const { command } = await api.runtime.approvals.answer(approval_id, { answer, by: `push ${target}` });
			return smallPage(context, 200, {
				title: WORDS[answer].done,
				text: ["The agent is told. You can close this page."],
				more: `<pre>${escapeHtml(visible(command))}</pre>`,
			});
		}),
	);
	app.all("/answer/*", (context) => smallPage(context, 404, INVALID));
}

const INVALID: SmallPage = {
	title: "This link is not valid",
	text: [
		"It was cut or changed on its way, or the token of the server has been changed since. Nothing was done. `holdfast approvals` lists the questions that wait.",
	],
};

async function withKey(context: Context, api: ApiContext, act: (key: AnswerKey) => Response | Promise<Response>): Promise<Response> {
	const key = readAnswerKey(api.token, context.req.param("key") ?? "");
	if (!key)
		return api.failures.tooMany()
			? smallPage(context, 429, { title: "Too many tries", text: ["Wait a minute. Nothing was done."] })
			: smallPage(context, 403, INVALID);
	if (key.expiresAt <= Date.now())
		return smallPage(context, 410, {
			title: "This link has expired",
			text: ["Silence was taken for a no. Nothing was done now; if the agent tries again there will be a new question."],
		});
	try {
		return await act(key);
	} catch (error) {
		const { status, body } = problemOf(error);
		const title = body.error.code === "ANSWERED" ? "This question is settled" : body.error.code === "NOT_FOUND" ? "This question is gone" : "This did not work";
		return smallPage(context, status, { title, text: [`${body.error.message}.`, "Nothing was done now."] });
	}
}

/** Throws ANSWERED, in the words of an answer that comes too late. */
function pending({ runtime }: ApiContext, id: string) {
	const approval = runtime.approvals.get(id);
	if (approval.state === "pending") return approval;
	const how = approval.state === "answered" ? `was answered before: ${approval.answer}, by ${approval.by}; that answer counts` : `is ${approval.state}`;
	throw new HoldfastError("ANSWERED", `${id} ${how}`);
}
