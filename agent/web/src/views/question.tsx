/** A question of the model: an answer to choose, or one's own. */
import { useState } from "preact/hooks";
import type { Question } from "../../../src/page/messages.js";
import { shownText } from "../ui/text.js";
import { useAround } from "./context.js";

export function QuestionView({ question }: { question: Question }) {
	const { store, host } = useAround();
	const [busy, setBusy] = useState(false);
	const answer = async (text: string) => {
		setBusy(true);
		try {
			await store.answer(question.id, text);
		} catch (error) {
			setBusy(false);
			host.say((error as Error).message, true);
		}
	};
	return (
		<form
			class="ag-question"
			onSubmit={(event) => {
				event.preventDefault();
				void answer(String(new FormData(event.currentTarget).get("answer") ?? ""));
			}}
		>
			<p class="ag-plain">{shownText(question.text)}</p>
			{question.choices.length > 0 && (
				<div class="actions">
					{question.choices.map((choice) => (
						<button key={choice} type="button" class="button" disabled={busy} onClick={() => void answer(choice)}>
							{shownText(choice)}
						</button>
					))}
				</div>
			)}
			<div class="ag-title">
				<label class="hidden" for={`answer-${question.id}`}>
					Your answer
				</label>
				<input id={`answer-${question.id}`} name="answer" class="input" autocomplete="off" placeholder="Your answer" />
				<button type="submit" class="button primary" disabled={busy}>
					Answer
				</button>
			</div>
		</form>
	);
}
