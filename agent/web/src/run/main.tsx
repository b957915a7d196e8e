/** The page of a run begins here: what all episodes came to, and one of them with its terminals beside what the model did. */
import "../style.css";
import type { PartHost } from "holdfast/http";
import { render } from "preact";
import { RunStore } from "./store.js";
import { RunPage } from "./views.js";

export function mount(element: HTMLElement, host: PartHost<HTMLElement>): () => void {
	const store = new RunStore(host);
	render(<RunPage host={host} store={store} />, element);
	const stop = store.start();
	return () => {
		stop();
		render(null, element);
	};
}
