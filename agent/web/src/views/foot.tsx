/** What is under way, what waits, what the model asks, and where one writes. */
import type { LiveState, ShownEntry } from "../../../src/page/messages.js";
import { isOpen } from "../state/blocks.js";
import { now } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { oneLine, shownText } from "../ui/text.js";
import { Composer, setDraft } from "./composer.js";
import { useAround } from "./context.js";
import { QuestionView } from "./question.js";
import { Steps } from "./steps.js";

const WAITING_CHARS = 200;

export function Foot({ id, entries }: { id: string; entries: readonly ShownEntry[] }) {
	const { store } = useAround();
	const live = store.live.value;
	const works = live?.busy === true || live?.holder != null;
	const cut = live !== undefined && !works && isOpen(entries);
	return (
		<footer class="ag-foot">
			{live && <Steps steps={live.todo} />}
			{live?.warnings.map((text) => (
				<p key={text} class="ag-warning">
					{shownText(text)}
				</p>
			))}
			{live?.questions.map((question) => (
				<QuestionView key={question.id} question={question} />
			))}
			{live && <Waiting id={id} waiting={live.waiting} />}
			{cut && <CutShort why={live.end} />}
			<p class="ag-status" role="status">
				{live && <StatusOf live={live} entries={entries} />}
			</p>
			<p class="hidden" role="status">
				{live && !works && entries.at(-1)?.t === "assistant" ? "The agent has answered." : ""}
			</p>
			<Composer id={id} works={works} own={live?.busy === true && live.holder === null} />
		</footer>
	);
}

function StatusOf({ live, entries }: { live: LiveState; entries: readonly ShownEntry[] }) {
	const { store } = useAround();
	if (live.holder !== null) return <span>{shownText(live.holder)} has this conversation. What you write goes to its inbox.</span>;
	if (!live.busy) return null;
	if (live.questions.length > 0) return <span class="wait">It asks you something.</span>;
	if (live.retry) {
		const left = Math.max(0, Math.ceil((Date.parse(live.retry.until) - now.value) / 1_000));
		return (
			<span class="wait">
				{shownText(live.retry.why)} {left > 0 ? `Tries again in ${left} s.` : "Tries again."}
			</span>
		);
	}
	if (live.compacting) return <span class="beat">Makes room in the conversation …</span>;
	if (store.text.value !== "") return <span class="beat">Answers …</span>;
	if (live.asking) return <span class="beat">Waits for the model …</span>;
	const calls = openCalls(entries);
	return <span class="beat">{calls.length > 0 ? `Runs ${calls.join(", ")} …` : "Works …"}</span>;
}

function openCalls(entries: readonly ShownEntry[]): string[] {
	const done = new Set(entries.flatMap((entry) => (entry.t === "result" ? [entry.call] : [])));
	const last = entries.findLast((entry) => entry.t === "assistant");
	return last?.t === "assistant" ? last.calls.filter((call) => !done.has(call.id)).map(({ name }) => oneLine(name, 40)) : [];
}

/** No program has it: the person says whether it goes on. */
function CutShort({ why }: { why: string | null }) {
	const { store, host } = useAround();
	return (
		<div class="ag-cut">
			<p>{why === null ? "The last turn was cut short. Nothing that ran is lost." : shownText(why)}</p>
			<button type="button" class="button" onClick={() => void store.resume().catch((error: Error) => host.say(error.message, true))}>
				Go on
			</button>
		</div>
	);
}

function Waiting({ id, waiting }: { id: string; waiting: LiveState["waiting"] }) {
	const { store, host } = useAround();
	if (waiting.length === 0) return null;
	const takeBack = async (message: string) => {
		try {
			setDraft(id, await store.takeBack(message));
		} catch (error) {
			host.say((error as Error).message, true);
		}
	};
	return (
		<ul class="ag-waiting" aria-label="Messages that wait">
			{waiting.map((item) => (
				<li key={item.id}>
					<span class="ag-state wait">{item.kind === "notice" ? "news" : item.mode === "queue" ? "after this" : "next"}</span>
					<span class="ag-waiting-text">{oneLine(item.text.text, WAITING_CHARS)}</span>
					{item.kind === "user" && (
						<button type="button" class="button bare icon" aria-label="Take this message back" title="Take it back" onClick={() => void takeBack(item.id)}>
							<Icon name="close" />
						</button>
					)}
				</li>
			))}
		</ul>
	);
}
