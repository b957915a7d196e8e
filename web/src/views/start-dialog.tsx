/** Start something by hand. */
import { useState } from "preact/hooks";
import { spawn } from "../api/calls.js";
import { takeWhenShown } from "../state/keyboards.js";
import { freeName, processes } from "../state/processes.js";
import { go } from "../state/route.js";
import { session } from "../state/start.js";
import { Button } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { Failed } from "../ui/said.js";
import { say } from "../ui/toasts.js";

/** The person's own shell where there is one, else what the machine has. */
const SHELL = 'exec "$(command -v "$SHELL" || command -v bash || command -v sh)"';

export function StartDialog({ onClose }: { onClose: () => void }) {
	const [error, setError] = useState<unknown>();
	const [busy, setBusy] = useState(false);
	const tasks = [...new Set([...processes.value.values()].map(({ task }) => task))];
	const places = [...new Set(["local", "local+sandbox", ...[...processes.value.values()].map(({ place }) => place)])];
	const submit = async (form: FormData) => {
		const field = (name: string) => String(form.get(name) ?? "").trim() || undefined;
		setBusy(true);
		try {
			const command = String(form.get("command"));
			const isShell = command.trim() === "";
			const pty = isShell || form.get("pty") !== null;
			const { session_id, notes } = await spawn({
				command: isShell ? SHELL : command,
				name: field("name") ?? (isShell ? freeName("shell") : undefined),
				task: field("task"),
				cwd: field("cwd"),
				place: field("place"),
				pty,
			});
			takeWhenShown(session_id);
			onClose();
			go(["p", session_id]);
			for (const note of notes) say(note);
		} catch (failure) {
			setError(failure);
			setBusy(false);
		}
	};
	return (
		<Dialog title="Start something" onClose={onClose}>
			<form
				class="form"
				onSubmit={(event) => {
					event.preventDefault();
					void submit(new FormData(event.currentTarget));
				}}
			>
				<label class="field">
					<span>Command</span>
					<textarea
						name="command"
						class="input mono"
						rows={3}
						spellcheck={false}
						autocapitalize="off"
						placeholder="npm run dev"
						onKeyDown={(event) => {
							if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
						}}
					/>
					<small>Run by bash, exactly as it is. Leave it empty for a shell. Ctrl+Enter starts it.</small>
				</label>
				<div class="two">
					<label class="field">
						<span>Directory</span>
						<input name="cwd" class="input mono" placeholder={session.value?.cwd ?? ""} spellcheck={false} autocapitalize="off" />
					</label>
					<label class="field">
						<span>Place</span>
						<input name="place" class="input mono" list="places" placeholder={session.value?.place ?? "local"} spellcheck={false} autocapitalize="off" />
						<datalist id="places">
							{places.map((place) => (
								<option key={place} value={place} />
							))}
						</datalist>
					</label>
				</div>
				<div class="two">
					<label class="field">
						<span>Name</span>
						<input name="name" class="input" maxLength={200} placeholder="shown in the list" />
					</label>
					<label class="field">
						<span>Task</span>
						<input name="task" class="input" list="tasks" maxLength={1_000} placeholder="default" autocapitalize="off" />
						<datalist id="tasks">
							{tasks.map((task) => (
								<option key={task} value={task} />
							))}
						</datalist>
					</label>
				</div>
				<label class="check">
					<input type="checkbox" name="pty" defaultChecked /> Allocate a terminal (for interactive programs)
				</label>
				{error !== undefined && <Failed error={error} />}
				<div class="actions end">
					<Button onClick={onClose}>Cancel</Button>
					<Button kind="primary" submit disabled={busy}>
						{busy ? "Starting …" : "Start"}
					</Button>
				</div>
			</form>
		</Dialog>
	);
}
