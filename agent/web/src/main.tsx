/** The agent's part of the page begins here: docs/library.md of the core says what a part is. */
import "./style.css";
import type { PartHost } from "holdfast/http";
import { render } from "preact";
import { Store } from "./state/store.js";
import { Agent } from "./views/agent.js";
import { HostContext } from "./views/context.js";

export function mount(element: HTMLElement, host: PartHost<HTMLElement>): () => void {
	const store = new Store(host);
	render(
		<HostContext.Provider value={{ host, store }}>
			<Agent />
		</HostContext.Provider>,
		element,
	);
	const stop = store.start();
	return () => {
		stop();
		render(null, element);
	};
}
