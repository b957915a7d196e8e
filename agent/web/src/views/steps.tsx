/** The list of steps that the model keeps. */
import type { Step } from "../../../src/page/messages.js";
import { shownText } from "../ui/text.js";

const WORDS = { pending: "to do", doing: "under way", done: "done", dropped: "dropped" };

export function Steps({ steps }: { steps: readonly Step[] }) {
	if (steps.length === 0) return null;
	const done = steps.filter(({ state }) => state === "done" || state === "dropped").length;
	const doing = steps.find(({ state }) => state === "doing");
	return (
		<details class="ag-steps">
			<summary>
				Steps: {done} of {steps.length}
				{doing && <span class="quiet"> · {shownText(doing.text)}</span>}
			</summary>
			<ol>
				{steps.map(({ text, state }, at) => (
					<li key={at} class={state}>
						<span class="hidden">{WORDS[state]}: </span>
						{shownText(text)}
					</li>
				))}
			</ol>
		</details>
	);
}
