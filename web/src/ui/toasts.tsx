/** Short messages at the edge of the page, read out as they come. Bad news stays until it is closed. */
import { signal } from "@preact/signals";
import { Button } from "./button.js";
import { messageOf } from "./said.js";
import { Sentence } from "./sentence.js";

interface Toast {
	readonly id: number;
	readonly text: string;
	readonly bad: boolean;
}

const STAYS_MS = 6_000;
const toasts = signal<readonly Toast[]>([]);
let next = 0;

export function say(text: string, bad = false): void {
	const id = next++;
	toasts.value = [...toasts.value.slice(-3), { id, text, bad }];
	if (!bad) setTimeout(() => drop(id), STAYS_MS);
}

/** Tells a person when a promise fails. */
export function tell(work: Promise<unknown>): void {
	work.catch((error: unknown) => say(messageOf(error), true));
}

const drop = (id: number): void => {
	toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

export const Toasts = () => (
	<div class="toasts" role="status" aria-live="polite">
		{toasts.value.map(({ id, text, bad }) => (
			<div key={id} class={bad ? "toast bad" : "toast"}>
				<span>
					<Sentence text={text} />
				</span>
				<Button icon="close" label="Close this message" kind="bare" onClick={() => drop(id)} />
			</div>
		))}
	</div>
);
