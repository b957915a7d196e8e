/** Kill a process, and show which processes were sent a signal and that none is left. */
import { useState } from "preact/hooks";
import type { Killed, ProcessItem } from "../../../src/doors/http/schemas.js";
import { kill } from "../api/calls.js";
import { nameOf } from "../state/processes.js";
import { Button } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { Failed } from "../ui/said.js";

type Step = { readonly at: "ask" | "killing" } | { readonly at: "done"; readonly killed: Killed } | { readonly at: "failed"; readonly error: unknown };

export function KillDialog({ process, onClose }: { process: ProcessItem; onClose: () => void }) {
	const [step, setStep] = useState<Step>({ at: "ask" });
	const act = async () => {
		setStep({ at: "killing" });
		try {
			setStep({ at: "done", killed: await kill(process.session_id) });
		} catch (error) {
			setStep({ at: "failed", error });
		}
	};
	return (
		<Dialog title="Kill" onClose={onClose}>
			<pre class="quote">{nameOf(process)}</pre>
			{step.at === "done" ? <Proof killed={step.killed} /> : step.at === "failed" ? <Failed error={step.error} /> : <Plan />}
			<div class="actions end">
				<Button onClick={onClose}>{step.at === "done" ? "Close" : "Leave it running"}</Button>
				{step.at !== "done" && (
					<Button kind="danger" icon="stop" disabled={step.at === "killing"} onClick={() => void act()}>
						{step.at === "killing" ? "Ending it …" : "Kill"}
					</Button>
				)}
			</div>
		</Dialog>
	);
}

const Plan = () => <p>It and everything it has started get TERM, two seconds to end, then KILL. Its output stays.</p>;

function Proof({ killed }: { killed: Killed }) {
	const { status, signalled, survivors, exit_code, signal, method } = killed;
	const clean = survivors.length === 0;
	return (
		<section role="status" class={clean ? "proof" : "proof bad"}>
			<p>
				<strong>
					{status === "already_exited" ? "It had ended already." : clean ? "It is gone: a second look found no process left." : "Some of it is still there."}
				</strong>
			</p>
			<dl>
				<div>
					<dt>Signalled</dt>
					<dd class="mono">{signalled.join(", ") || "none"}</dd>
				</div>
				<div>
					<dt>Still there</dt>
					<dd class="mono">{survivors.join(", ") || "none"}</dd>
				</div>
				<div>
					<dt>Exit code</dt>
					<dd class="mono">
						{exit_code ?? "unknown"}
						{signal && ` (${signal})`}
					</dd>
				</div>
				<div>
					<dt>Found by</dt>
					<dd class="mono">{method}</dd>
				</div>
			</dl>
		</section>
	);
}
