import fs from "node:fs";
import { expect, it } from "vitest";
import { KeyRing, sessionLogFile } from "../../src/base/index.js";
import { type EntryBody, exportConversation, Log, writeSessionLog } from "../../src/talk/index.js";
import { anthropicBreaks } from "../model-server/rules-anthropic.js";
import { chatBreaks } from "../model-server/rules-chat.js";
import { tempHome } from "../support/dirs.js";
import { stories } from "./support/stories.js";

const KEY = "sk-planted-0123456789abcdef";
const BY = { platform: "test", person: "p" };
const same = (text: string): string => text;

const LINES: readonly EntryBody[] = [
	{ t: "user", id: "m1", text: `use ${KEY}`, by: BY },
	{
		t: "assistant",
		text: "I look.",
		calls: [{ id: "c1", name: "terminal", args: JSON.stringify({ command: `curl -H "Authorization: Bearer ${KEY}"` }) }],
		stop: "calls",
		usage: { input: 10, output: 5, cached: 2, cost: 0.5 },
		model: "m",
	},
	{ t: "result", call: "c1", text: `answered ${Buffer.from(KEY).toString("base64")}`, failed: true, process: "proc_8d33aa11bb22", how: "ran" },
	{ t: "failure", turn: 1, tool: "terminal", args: `{"command":"curl ${KEY}`, error: "answered" },
	{ t: "note", text: "be brief" },
	{ t: "assistant", text: "Done.", calls: [], stop: "done", usage: { input: 20, output: 1 }, model: "m" },
	{ t: "user", id: "m2", text: "forget this", by: BY },
	{ t: "assistant", text: "ok", calls: [], stop: "done", model: "m" },
	{ t: "undone", from: 7 },
	{ t: "summary", upto: 6, text: "all of it", before: 10, after: 1 },
];

async function conversation(lines: readonly EntryBody[] = LINES): Promise<{ readonly log: Log; readonly home: ReturnType<typeof tempHome> }> {
	const home = tempHome();
	const log = await Log.begin(home, { task: "t", place: "local+sandbox", model: "m" }, { clock: { now: () => Date.UTC(2026, 10, 16, 6, 44, 10) } });
	for (const line of lines) await log.append(line);
	await log.leave();
	return { log, home };
}

it("writes logs/session_ID.json, whole, with all that was said but what was taken back, and without keys", async () => {
	const { log, home } = await conversation();
	const ring = new KeyRing(home);
	ring.store("openai", KEY);
	const file = writeSessionLog(home, log, { endpoint: "api.openai.com", toolsets: ["terminal", "file"], redact: ring.redact });
	expect(file).toBe(sessionLogFile(home, log.id));
	const text = fs.readFileSync(file, "utf8");
	expect(text).not.toMatch(/0123456789abcdef|c2stcGxhbnRlZC/);
	expect(JSON.parse(text)).toEqual({
		session_id: log.id,
		model: "m",
		endpoint: "api.openai.com",
		place: "local+sandbox",
		started_at: "2026-11-16T06:44:10.000Z",
		updated_at: "2026-11-16T06:44:10.000Z",
		message_count: 5,
		toolsets: ["terminal", "file"],
		usage: { input: 30, output: 6, cached: 2, cost: 0.5 },
		tools: { terminal: { calls: 1, failed: 1, skipped: 0, recovered: 0 } },
		tool_errors: [
			{
				turn: 1,
				tool: "terminal",
				arguments: expect.stringMatching(/^\{"command":"curl …\[redacted\]/),
				error: "answered",
				result: expect.stringMatching(/^answered …\[redacted\]/),
			},
		],
		conversations: [
			{ from: "human", value: "use …[redacted]" },
			{ from: "gpt", value: "I look.", calls: [{ id: "c1", name: "terminal", arguments: '{"command":"curl -H \\"Authorization: Bearer …[redacted]\\""}' }] },
			{ from: "tool", value: expect.stringMatching(/^answered …\[redacted\]/), call: "c1", process: "proc_8d33aa11bb22" },
			{ from: "human", value: "[Note of the program, not of the user: be brief]" },
			{ from: "gpt", value: "Done." },
		],
	});
	expect(fs.statSync(file).mode & 0o777).toBe(0o600);
	expect(fs.readdirSync(home.logs)).toHaveLength(1);
});

it("exports are valid for whom they are meant, whatever the conversation has been through", async () => {
	for (const story of stories()) {
		const { log } = await conversation(story.lines.slice(1));
		const openai = exportConversation(log.entries, "openai", same) as { messages: unknown[] };
		const anthropic = exportConversation(log.entries, "anthropic", same) as { messages: { role: string }[] };
		const ends = anthropic.messages.at(-1)?.role === "assistant" ? [{ role: "user", content: [{ type: "text", text: "next" }] }] : [];
		const ids = new Set(log.callIds);
		expect(chatBreaks({ model: "m", messages: openai.messages }, { strict: false, longIds: ids }), story.name).toBeUndefined();
		if (!story.name.includes("odd-ids"))
			expect(anthropicBreaks({ model: "m", max_tokens: 9, stream: true, messages: [...anthropic.messages, ...ends] }), story.name).toBeUndefined();
	}
});

it("an export has everything from before a summary, and nothing of what was taken back", async () => {
	const { log } = await conversation();
	for (const format of ["openai", "anthropic", "sharegpt"] as const) {
		const text = JSON.stringify(exportConversation(log.entries, format, same));
		expect(text).toContain("I look.");
		expect(text).not.toMatch(/forget this|all of it/);
		expect(JSON.stringify(exportConversation(log.entries, format, () => "X"))).not.toMatch(/sk-planted|I look/);
	}
	expect(exportConversation(log.entries, "sharegpt", same)).toMatchObject({
		id: log.id,
		conversations: [{ from: "human" }, { from: "gpt" }, { from: "tool" }, { from: "human" }, { from: "gpt" }],
	});
});
