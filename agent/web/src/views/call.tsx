/** A call of a tool: closed, it says what was done and how that went; open, with what and what came back. */
import { useEffect, useState } from "preact/hooks";
import type { CallBlock } from "../state/blocks.js";
import { CodeBlock } from "../ui/code.js";
import { counted } from "../ui/format.js";
import { Icon, type IconName } from "../ui/icon.js";
import { oneLine, shownCode } from "../ui/text.js";
import { useWhole } from "./block.js";
import { useAround } from "./context.js";
import { ProcessLink } from "./pane.js";

const GIST_CHARS = 160;

type Look = { readonly icon: IconName; readonly tone: string; readonly words: string };

export function CallView({ block }: { block: CallBlock }) {
	const { store } = useAround();
	const { call, result } = block;
	const [open, setOpen] = useState(false);
	const progress = store.live.value?.progress[call.id];
	const look = lookOf(block, store.live.value?.busy === true || store.live.value?.holder != null);
	return (
		<li class="ag-call">
			<details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
				<summary>
					<span class={`ag-mark ${look.tone}`}>
						<Icon name={look.icon} />
						<span class="hidden">{look.words}: </span>
					</span>
					<span class="ag-tool">{shownCode(call.name)}</span> <code class="ag-gist">{gist(call.name, call.args.text)}</code>
					{look.tone !== "good" && <span class={`ag-how ${look.tone}`}>{look.words}</span>}
				</summary>
				{open && <Inside block={block} />}
			</details>
			{result?.process !== undefined && <ProcessLink id={result.process} />}
			{!result && progress !== undefined && <p class="ag-progress">{oneLine(progress, GIST_CHARS)}</p>}
		</li>
	);
}

function lookOf({ result }: CallBlock, underWay: boolean): Look {
	if (!result) return underWay ? { icon: "run", tone: "run", words: "runs" } : { icon: "unknown", tone: "wait", words: "no result yet" };
	if (result.how === "skipped") return { icon: "skipped", tone: "over", words: "not run" };
	if (result.how === "refused") return { icon: "bad", tone: "bad", words: "refused" };
	if (result.how === "unknown") return { icon: "unknown", tone: "wait", words: "not known" };
	if (result.failed) return { icon: "bad", tone: "bad", words: "failed" };
	return result.how === "recovered" ? { icon: "ok", tone: "run", words: "found after a restart" } : { icon: "ok", tone: "good", words: "done" };
}

/** What matters of the arguments, in one line. */
function gist(name: string, args: string): string {
	const values = parsed(args);
	if (name === "todo" && Array.isArray(values?.items)) return counted(values.items.length, "step", "steps");
	const main = MAIN.map((key) => values?.[key]).find((value) => typeof value === "string" && value !== "");
	if (typeof main === "string") return oneLine(name === "process" && typeof values?.action === "string" ? `${values.action} ${main}` : main, GIST_CHARS);
	return oneLine(args === "{}" ? "" : args, GIST_CHARS);
}
const MAIN = ["command", "pattern", "query", "path", "question", "url", "session_id", "input_keys", "source"];

function parsed(args: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(args);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
	} catch {
		return undefined; // cut, or as the model wrote it
	}
}

function Inside({ block: { call, n, result } }: { block: CallBlock }) {
	const args = useWhole(n, call.args, (entry) => (entry.t === "assistant" ? entry.calls.find(({ id }) => id === call.id)?.args : undefined));
	return (
		<div class="ag-inside">
			<CodeBlock text={shownCode(pretty(args.text))} language="arguments" label="arguments" />
			{args.more}
			{result ? <Result result={result} /> : null}
			{call.name === "terminal" && result?.process === undefined && <TerminalOfCall call={call.id} />}
		</div>
	);
}

/** A command is read as it would be typed; the rest as JSON. */
function pretty(args: string): string {
	const values = parsed(args);
	if (!values) return args;
	if (Object.keys(values).length === 1 && typeof values.command === "string") return values.command;
	return JSON.stringify(values, null, 2);
}

function Result({ result }: { result: NonNullable<CallBlock["result"]> }) {
	const { text, more } = useWhole(result.n, result.text, (entry) => (entry.t === "result" ? entry.text : undefined));
	return (
		<>
			<CodeBlock text={text === "" ? "(nothing)" : shownCode(text)} language={result.failed ? "result: failed" : "result"} label="result" />
			{more}
		</>
	);
}

/** A command in the shell of the conversation has a log too, for a week. */
function TerminalOfCall({ call }: { call: string }) {
	const { store } = useAround();
	const [id, setId] = useState<string | null>();
	useEffect(() => {
		let wanted = true;
		store.terminalOf(call).then(
			(found) => wanted && setId(found),
			() => wanted && setId(null),
		);
		return () => {
			wanted = false;
		};
	}, [call]);
	if (id === undefined) return <p class="ag-note beat">Looking for its terminal …</p>;
	return id === null ? <p class="ag-note">Its terminal is not kept any more.</p> : <ProcessLink id={id} words="Open as a terminal" />;
}
