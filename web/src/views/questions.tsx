/** Questions of agents, over whatever is on show: the command, the time left, and the two answers that need no thought. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { visible } from "../../../src/base/text.js";
import type { Approval } from "../../../src/doors/http/schemas.js";
import { answer, type Choice, DONE, pending, secondsLeft, WORDS } from "../state/approvals.js";
import { now } from "../state/clock.js";
import { href } from "../state/route.js";
import { Button } from "../ui/button.js";
import { duration } from "../ui/format.js";
import { Risky } from "../ui/risky.js";
import { say, tell } from "../ui/toasts.js";

const MOST = 2;
const AIM_MS = 500; // what has just come or moved under the pointer is not what a click was meant for
const QUICK: readonly Choice[] = ["once", "no"];

const later = signal<ReadonlySet<string>>(new Set());

export function Questions() {
	const asked = pending.value.filter(({ id }) => !later.value.has(id));
	const shown = asked.slice(0, MOST);
	const ready = useSettled(shown.map(({ id }) => id).join());
	if (shown.length === 0) return null;
	return (
		<section class="questions" aria-label="Questions of agents">
			{asked.length > shown.length && (
				<a class="toast more" href={href(["approvals"])}>
					{asked.length - shown.length} more to answer
				</a>
			)}
			{shown.map((approval) => (
				<Question key={approval.id} approval={approval} ready={ready} />
			))}
		</section>
	);
}

function Question({ approval, ready }: { approval: Approval; ready: boolean }) {
	const [busy, setBusy] = useState(false);
	const settle = (choice: Choice) => {
		setBusy(true);
		tell(
			answer(approval.id, choice, "")
				.then(() => say(`Answered: ${DONE[choice]}.`))
				.finally(() => setBusy(false)),
		);
	};
	return (
		<article class="toast question">
			<header>
				<strong>{visible(approval.task)}</strong> <span class="quiet">asks</span>
				<TimeLeft approval={approval} />
			</header>
			<pre>
				<Risky command={approval.command} parts={approval.parts} />
			</pre>
			<div class="actions">
				{QUICK.filter((choice) => approval.choices.includes(choice)).map((choice) => (
					<Button key={choice} kind={choice === "no" ? "danger" : "primary"} disabled={busy || !ready} onClick={() => settle(choice)}>
						{WORDS[choice]}
					</Button>
				))}
				<a class="button bare" href={href(["approvals"])}>
					More
				</a>
				<Button kind="bare" label="Put it aside: it stays under Approvals" onClick={() => (later.value = new Set([...later.value, approval.id]))}>
					Later
				</Button>
			</div>
		</article>
	);
}

/** Runs down while an agent waits. */
export function TimeLeft({ approval }: { approval: Approval }) {
	const left = Math.max(0, secondsLeft(approval, now.value));
	const all = (Date.parse(approval.expires_at) - Date.parse(approval.created_at)) / 1_000;
	return (
		<span class={approval.waiting ? "left waits" : "left"}>
			{approval.waiting && <progress max={all} value={left} aria-label="Time left to answer" />}
			<span class="num">{approval.waiting ? `an agent waits, ${duration(left)} left` : `${duration(left)} left`}</span>
		</span>
	);
}

function useSettled(key: string): boolean {
	const [settled, setSettled] = useState("");
	useEffect(() => {
		const timer = setTimeout(() => setSettled(key), AIM_MS);
		return () => clearTimeout(timer);
	}, [key]);
	return settled === key;
}
