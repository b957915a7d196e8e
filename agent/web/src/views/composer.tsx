/** Where one writes. Enter sends; while the agent works the message reaches it at once, with Alt after its turn; Escape stops it. */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BusyMode } from "../../../src/page/messages.js";
import { Icon } from "../ui/icon.js";
import { useAround } from "./context.js";

/** What was begun and not sent, by conversation: it is there when one comes back. */
const drafts = signal<ReadonlyMap<string, string>>(new Map());

export const draftOf = (id: string): string => drafts.value.get(id) ?? "";
export function setDraft(id: string, text: string): void {
	drafts.value = new Map([...drafts.value, [id, text]]);
}

const WIDE = matchMedia("(min-width: 46rem)");

export const newId = (): string => `msg_${[...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/** `own`: the turn is of this server, which can stop it. */
export function Composer({ id, works, own }: { id: string; works: boolean; own: boolean }) {
	const { host, store } = useAround();
	const field = useRef<HTMLTextAreaElement>(null);
	const [sending, setSending] = useState(false);
	const [stopping, setStopping] = useState(false);
	const attempt = useRef({ text: "", id: "" });
	const text = draftOf(id);
	useEffect(() => {
		if (WIDE.matches) field.current?.focus();
	}, []);
	useLayoutEffect(() => fitted(field.current), [text]);

	const send = async (mode?: BusyMode) => {
		if (text.trim() === "" || sending) return;
		if (attempt.current.text !== text) attempt.current = { text, id: newId() }; // the same one again: its answer was lost
		setSending(true);
		try {
			await store.send(text, { id: attempt.current.id, ...(mode ? { mode } : {}) });
			attempt.current = { text: "", id: "" };
			setDraft(id, "");
		} catch (error) {
			host.say((error as Error).message, true);
		} finally {
			setSending(false);
			field.current?.focus();
		}
	};
	const stop = async () => {
		setStopping(true);
		await store.interrupt().catch((error: Error) => host.say(error.message, true));
		setStopping(false);
	};
	const pressed = (event: KeyboardEvent) => {
		if (event.isComposing) return;
		if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
			event.preventDefault();
			void send(event.altKey && works ? "queue" : undefined);
		} else if (event.key === "Escape" && own) {
			event.preventDefault();
			void stop();
		} else if (event.key === "ArrowUp" && text === "") {
			const last = store.live.value?.waiting.findLast(({ kind }) => kind === "user");
			if (!last) return;
			event.preventDefault();
			store.takeBack(last.id).then(
				(back) => setDraft(id, back),
				(error: Error) => host.say(error.message, true),
			);
		}
	};
	return (
		<form
			class="ag-composer"
			onSubmit={(event) => {
				event.preventDefault();
				void send();
			}}
		>
			<label class="hidden" for="ag-message">
				Message
			</label>
			<textarea
				id="ag-message"
				ref={field}
				class="input"
				rows={1}
				value={text}
				enterkeyhint="send"
				placeholder={works ? "Tell it something" : "Write a message"}
				onInput={(event) => setDraft(id, event.currentTarget.value)}
				onKeyDown={pressed}
			/>
			{own && (
				<button type="button" class="button danger" disabled={stopping} title="Stop the turn (Escape)" onClick={() => void stop()}>
					<Icon name="stop" />
					<span class="ag-word">Stop</span>
				</button>
			)}
			{works && (
				<button type="button" class="button" disabled={sending || text.trim() === ""} title="After this turn (Alt+Enter)" onClick={() => void send("queue")}>
					<Icon name="later" />
					<span class="ag-word">Queue</span>
				</button>
			)}
			<button type="submit" class="button primary" disabled={sending || text.trim() === ""} title="Send (Enter)">
				<Icon name="send" />
				<span class="ag-word">Send</span>
			</button>
		</form>
	);
}

/** As high as its text, within limits. */
function fitted(field: HTMLTextAreaElement | null): void {
	if (!field) return;
	field.style.height = "auto";
	field.style.height = `${field.scrollHeight + 2}px`;
}
