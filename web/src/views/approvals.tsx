/** Questions of agents that wait for an answer. */

import { useState } from "preact/hooks";
import { visible } from "../../../src/base/text.js";
import type { Approval } from "../../../src/doors/http/schemas.js";
import { answer, approvals, approvalsFailed, type Choice, DONE, lookForApprovals, pending, secondsLeft, WORDS } from "../state/approvals.js";
import { now } from "../state/clock.js";
import { known } from "../state/processes.js";
import { Button } from "../ui/button.js";
import { clock } from "../ui/format.js";
import { Risky } from "../ui/risky.js";
import { Empty, Failed, Loading } from "../ui/said.js";
import { say, tell } from "../ui/toasts.js";
import { TimeLeft } from "./questions.js";

export function Approvals() {
	const settled = approvals.value.filter(({ state }) => state !== "pending");
	return (
		<div class="page">
			<header class="page-head">
				<h1>Approvals</h1>
			</header>
			{approvalsFailed.value ? (
				<Failed error={new Error(approvalsFailed.value)}>
					<Button onClick={() => void lookForApprovals()}>Look again</Button>
				</Failed>
			) : !known.value ? (
				<Loading what="the approvals" />
			) : pending.value.length === 0 ? (
				<Empty title="No pending approvals">
					<p>When an agent wants to run something that the rules leave to you, it waits here for your answer.</p>
				</Empty>
			) : (
				<ol class="asks">
					{pending.value.map((approval) => (
						<Ask key={approval.id} approval={approval} />
					))}
				</ol>
			)}
			{settled.length > 0 && (
				<section class="settled">
					<h2>Settled</h2>
					<ul>
						{[...settled].reverse().map((approval) => (
							<li key={approval.id}>
								<code>{visible(approval.command)}</code>
								<span class="quiet">
									{visible(approval.task)}: {approval.answer ? `${DONE[approval.answer]} ${byWhom(approval)}` : approval.state},{" "}
									{clock(approval.answered_at ?? (approval.state === "expired" ? approval.expires_at : approval.created_at))}
									{approval.message && `: “${approval.message}”`}
								</span>
							</li>
						))}
					</ul>
				</section>
			)}
		</div>
	);
}

function Ask({ approval }: { approval: Approval }) {
	const [note, setNote] = useState("");
	const [busy, setBusy] = useState(false);
	const left = secondsLeft(approval, now.value);
	const settle = (choice: Choice) => {
		setBusy(true);
		tell(
			answer(approval.id, choice, note.trim())
				.then(() => say(`Answered: ${DONE[choice]}.`))
				.finally(() => setBusy(false)),
		);
	};
	return (
		<li class="ask">
			<TimeLeft approval={approval} />
			<ul class="reasons">
				{reasonsOf(approval).map((reason) => (
					<li key={reason}>{reason}</li>
				))}
			</ul>
			<pre>
				<Risky command={approval.command} parts={approval.parts} />
			</pre>
			<p class="quiet">
				{visible(approval.task)}, {approval.place}, in <code>{visible(approval.cwd)}</code>. Asked at {clock(approval.created_at)};{" "}
				{left > 0 ? "silence is a no" : "its time is up"}.{!approval.waiting && " The agent does not wait: your answer counts for the next time it asks."}
			</p>
			<label class="field">
				<span class="hidden">A note for the agent</span>
				<input
					class="input"
					placeholder="A note for the agent (it reads this)"
					maxLength={2_000}
					value={note}
					onInput={(event) => setNote(event.currentTarget.value)}
				/>
			</label>
			<div class="actions">
				{approval.choices.map((choice) => (
					<Button key={choice} kind={choice === "no" ? "danger" : choice === "once" ? "primary" : undefined} disabled={busy} onClick={() => settle(choice)}>
						{WORDS[choice]}
					</Button>
				))}
			</div>
		</li>
	);
}

const byWhom = ({ by }: Approval): string => (by === "http" ? "in the page" : `by ${by}`);

const reasonsOf = ({ parts }: Approval): string[] => [...new Set(parts.map(({ reason }) => reason.charAt(0).toUpperCase() + reason.slice(1)))];
