/** The model's way to send a file into the chat. It is in the outbox, on the disk, when the call has ended; sent twice it is sent once, by the id of its call. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { ensureDir, fileKey } from "../base/index.js";
import type { AgentTool, ToolOutcome } from "../tools/index.js";
import { type Chat, shortHash } from "./chat.js";
import { safeName } from "./files.js";

const argsSchema = z.object({
	path: z.string().trim().min(1).max(4_096),
	text: z.string().max(1_000).optional(),
});

const SCHEMA = {
	type: "object",
	properties: {
		path: { type: "string", description: "The file, from the shell's directory on." },
		text: { type: "string", description: "A line that is shown with it." },
	},
	required: ["path"],
	additionalProperties: false,
} as const;

export function sendFileTool(chat: Chat): AgentTool {
	const { link, hall, state } = chat;
	const idOf = (call: string): string => `file_${chat.conversation?.id ?? ""}_${shortHash(call)}`;
	return {
		name: "send_file",
		description: 'Send a file to your user in the chat.\nsend_file(path="report.pdf", text="The report")',
		schema: SCHEMA as unknown as AgentTool["schema"],
		changes: true,
		async run(given, { id, signal }) {
			const parsed = argsSchema.safeParse(given);
			if (!parsed.success) return failed(`the arguments are wrong (${parsed.error.issues[0]?.path.join(".")}: ${parsed.error.issues[0]?.message})`);
			const { conversation } = chat;
			if (!conversation) return failed("the conversation is closed");
			const name = safeName(parsed.data.path);
			const dir = path.join(hall.paths.files, fileKey(chat.key), `out-${shortHash(idOf(id))}`);
			ensureDir(dir);
			const target = path.join(dir, name);
			const { error } = await conversation.task.call("download", { source: parsed.data.path, target }, { signal, place: conversation.place });
			if (error !== undefined && error !== null) return failed(String(error));
			if (!fs.statSync(target).isFile()) return failed(`${parsed.data.path} is no file; pack a directory first`);
			const { size } = fs.statSync(target);
			if (size > hall.settings.config.gateway.fileBytes) return failed(`${name} has ${size} bytes, and ${hall.settings.config.gateway.fileBytes} can be sent`);
			await link.outbox.put({ id: idOf(id), chat: state.chat, text: hall.keys.redact(parsed.data.text ?? name), rings: false, file: { name, path: target } });
			return { text: `${name} (${size} bytes) is on its way to the user.`, failed: false };
		},
		async became(_, { id }) {
			return link.outbox.store.has(idOf(id)) ? { state: "ended", outcome: { text: "The file is on its way to the user.", failed: false } } : { state: "never" };
		},
	};
}

const failed = (why: string): ToolOutcome => ({ text: `Error: nothing was sent: ${why}.`, failed: true });
