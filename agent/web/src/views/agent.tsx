/** The list of conversations, the one on show, and a terminal beside it. On a phone one of them at a time. */
import { Begin } from "./begin.js";
import { useAround } from "./context.js";
import { Conversation } from "./conversation.js";
import { ConversationListView } from "./list.js";
import { TerminalPane } from "./pane.js";

export function Agent() {
	const { store, host } = useAround();
	const shown = store.shown.value;
	return (
		<div class={shown === undefined ? "agent at-list" : "agent"}>
			<aside class="ag-side" aria-label="Conversations">
				<ConversationListView />
			</aside>
			<section class="ag-main" aria-label="Conversation">
				{!store.connected.value && <p class="ag-lost">The server does not answer. This goes on by itself when it is back.</p>}
				{shown === undefined ? <Nothing /> : shown === "new" ? <Begin onBegun={(id) => host.go([id])} /> : <Conversation key={shown} id={shown} />}
			</section>
			{store.terminal.value !== undefined && <TerminalPane key={store.terminal.value} id={store.terminal.value} />}
		</div>
	);
}

function Nothing() {
	const { store, host } = useAround();
	const empty = store.list.value?.length === 0;
	return (
		<div class="said">
			<h2>{empty ? "No conversation yet" : "Choose a conversation"}</h2>
			<p>
				{empty
					? "Say what you want done. The agent works in terminals that you can watch, and take over, here."
					: "All of them are here, also those that began in a terminal."}
			</p>
			<a class="button primary" href={host.href(["new"])}>
				New conversation
			</a>
		</div>
	);
}
