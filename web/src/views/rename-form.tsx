/** Another name, in place. */
import { useState } from "preact/hooks";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { rename } from "../api/calls.js";
import { takeOne } from "../state/processes.js";
import { Button } from "../ui/button.js";
import { messageOf } from "../ui/said.js";
import { Sentence } from "../ui/sentence.js";

export function RenameForm({ process, onDone }: { process: ProcessItem; onDone: () => void }) {
	const [name, setName] = useState(process.name ?? ""); // of the field itself: the process is rendered again every second
	const [error, setError] = useState("");
	const submit = async () => {
		try {
			takeOne(await rename(process.session_id, name.trim()));
			onDone();
		} catch (failure) {
			setError(messageOf(failure));
		}
	};
	return (
		<form
			class="form"
			onSubmit={(event) => {
				event.preventDefault();
				void submit();
			}}
		>
			<label class="field">
				<span>Name</span>
				<input class="input" required maxLength={200} value={name} onInput={(event) => setName(event.currentTarget.value)} ref={focusAtOnce} />
			</label>
			{error && (
				<p class="error" role="alert">
					<Sentence text={error} />
				</p>
			)}
			<div class="actions">
				<Button submit kind="primary">
					Rename
				</Button>
				<Button onClick={onDone}>Cancel</Button>
			</div>
		</form>
	);
}

const focusAtOnce = (input: HTMLInputElement | null): void => input?.select();
