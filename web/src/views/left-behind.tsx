/** Processes of clients that are gone, with a way to end them. A client that is started again would come back to its processes. */
import { useState } from "preact/hooks";
import { visible } from "../../../src/base/text.js";
import type { TaskItem } from "../../../src/doors/http/schemas.js";
import { endIfGone } from "../api/calls.js";
import { now } from "../state/clock.js";
import { href } from "../state/route.js";
import { Button } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { Failed } from "../ui/said.js";
import { say } from "../ui/toasts.js";
import { clientWords, taskItems, useTaskUse } from "./task-use.js";

const AGES = { "for any time": 0, "for an hour": 3_600, "for a day": 86_400, "for a week": 604_800 } as const;
type Age = keyof typeof AGES;

export function LeftBehind() {
	useTaskUse();
	const [asked, setAsked] = useState<readonly TaskItem[]>();
	// The dialog stays when the last client comes back while it is open: its answer says so.
	return (
		<>
			<Left onEnd={setAsked} />
			{asked && <EndDialog items={asked} onClose={() => setAsked(undefined)} />}
		</>
	);
}

function Left({ onEnd }: { onEnd: (items: readonly TaskItem[]) => void }) {
	const [age, setAge] = useState<Age>("for any time");
	const left = [...taskItems.value.values()].filter(({ client, running }) => client === "gone" && running > 0);
	if (left.length === 0) return null;
	const old = left.filter(({ gone_since }) => now.value - Date.parse(gone_since ?? "") >= AGES[age] * 1_000);
	return (
		<section class="left-behind" aria-label="Left by clients that are gone">
			<header>
				<h2>Left by clients that are gone</h2>
				<label class="by">
					<span>gone</span>
					<select value={age} onChange={(event) => setAge(event.currentTarget.value as Age)}>
						{Object.keys(AGES).map((word) => (
							<option key={word}>{word}</option>
						))}
					</select>
				</label>
				<Button kind="danger" disabled={old.length === 0} onClick={() => onEnd(old)}>
					End {old.length}
				</Button>
			</header>
			<ul>
				{left.map((item) => (
					<li key={item.task}>
						<a href={href(["t", item.task])}>{visible(item.task)}</a>
						<small class="quiet">
							{clientWords(item)} · {item.running} running
						</small>
						<Button label={`End ${item.task}`} onClick={() => onEnd([item])}>
							End
						</Button>
					</li>
				))}
			</ul>
		</section>
	);
}

function EndDialog({ items, onClose }: { items: readonly TaskItem[]; onClose: () => void }) {
	const [ending, setEnding] = useState(false);
	const [error, setError] = useState<unknown>();
	const act = async () => {
		setEnding(true);
		try {
			let ended = 0;
			for (const { task } of items) ended += (await endIfGone(task)).processes.length;
			say(`${items.length === 1 ? "The task" : `${items.length} tasks`} ended, with ${ended} ${ended === 1 ? "process" : "processes"}.`);
			onClose();
		} catch (failure) {
			setError(failure);
			setEnding(false);
		}
	};
	return (
		<Dialog title={items.length === 1 ? "End this task" : `End ${items.length} tasks`} onClose={onClose}>
			<pre class="quote">{items.map(({ task }) => visible(task)).join("\n")}</pre>
			<p>
				Everything that it has started is killed with its tree, and its shells and sandboxes end. Logs stay. A client that has come back meanwhile keeps its
				task.
			</p>
			{error !== undefined && <Failed error={error} />}
			<div class="actions end">
				<Button onClick={onClose}>Leave it running</Button>
				<Button kind="danger" icon="stop" disabled={ending} onClick={() => void act()}>
					{ending ? "Ending it …" : "End"}
				</Button>
			</div>
		</Dialog>
	);
}
