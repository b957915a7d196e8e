/** One attempt: what the model did beside its commands, on one axis of time; the terminal that is live; what the tests printed and what was left. */
import { useEffect, useRef } from "preact/hooks";
import type { CommandView, EpisodeView, RunView, StepView } from "../../../src/view/messages.js";
import { CodeBlock } from "../ui/code.js";
import type { Around } from "./views.js";
import { Back } from "./views.js";

type Item = { readonly at: number; readonly id: string } & ({ readonly step: StepView } | { readonly command: CommandView });

export function Episode({ host, store, run }: Around & { run: RunView }) {
	const episode = store.episode.value;
	const cell = run.cells.find(({ index }) => index === store.shown.value);
	if (!cell) return <p class="ag-note">There is no such episode in this run.</p>;
	const isOver = !["waits", "open", "gone"].includes(cell.state);
	return (
		<div class="run-body">
			<header class="run-head">
				<Back host={host} />
				<div>
					<h1>
						{cell.key} · {cell.repeat + 1}
					</h1>
					<p class="run-facts">
						<span class={`run-word ${cell.state}`}>{cell.words}</span>
						<span>episode {cell.index}</span>
						{cell.seconds !== null && <span>{cell.seconds} s</span>}
						{cell.tokens !== null && <span>{cell.tokens.toLocaleString("en-US")} tokens</span>}
						{cell.touched > 0 && <span>a person had the keyboard {cell.touched} times</span>}
						{episode && <span>{episode.place}</span>}
					</p>
				</div>
				<button type="button" class="button" onClick={() => void store.ask({ do: isOver ? "requeue" : "cancel", index: cell.index })}>
					{isOver ? "Make it again" : "Cancel"}
				</button>
			</header>
			{cell.attempts > 1 && (
				<nav class="run-attempts" aria-label="Attempts">
					{Array.from({ length: cell.attempts }, (_, at) => at + 1).map((attempt) => (
						<a
							key={attempt}
							class="button"
							href={host.href([String(cell.index), String(attempt)])}
							aria-current={episode?.attempt === attempt ? "page" : undefined}
						>
							attempt {attempt}
						</a>
					))}
				</nav>
			)}
			{!episode ? (
				<p class="ag-note">Loading …</p>
			) : episode.began === null ? (
				<p class="ag-note">It has not begun yet.</p>
			) : (
				<Played host={host} episode={episode} />
			)}
		</div>
	);
}

function Played({ host, episode }: { host: Around["host"]; episode: EpisodeView }) {
	const items: Item[] = [
		...episode.steps.map((step, at): Item => ({ at: step.at, id: `step-${at}`, step })),
		...episode.commands.map((command): Item => ({ at: command.from, id: `command-${command.id}`, command })),
	].sort((a, b) => a.at - b.at);
	return (
		<>
			{episode.live !== null && <Live key={episode.live} host={host} id={episode.live} />}
			<Axis items={items} length={episode.length} />
			<section class="run-lanes" aria-label="What the model did, and its commands">
				<h2>Model</h2>
				<h2>Terminal</h2>
				{items.map((item) =>
					"step" in item ? <Step key={item.id} id={item.id} step={item.step} /> : <Command key={item.id} id={item.id} host={host} command={item.command} />,
				)}
			</section>
			{episode.files.length > 0 && (
				<section aria-label="Files">
					<h2>Files</h2>
					{episode.files.map(({ name, text, cut }) => (
						<details key={name} class="run-file" open={/verifier|test-stdout|reward/.test(name)}>
							<summary>
								{name}
								{cut ? " (its beginning)" : ""}
							</summary>
							<CodeBlock text={text} label="file" />
						</details>
					))}
				</section>
			)}
		</>
	);
}

/** Both lanes from the beginning of the attempt to its end; a press leads to what it stands for. */
function Axis({ items, length }: { items: readonly Item[]; length: number }) {
	const share = (ms: number): string => `${Math.min(100, (ms / Math.max(1, length)) * 100)}%`;
	const go = (id: string) => document.getElementById(id)?.scrollIntoView({ block: "center" });
	const marks = (lane: "step" | "command") =>
		items.map((item) => {
			if (!(lane in item)) return null;
			const words = "step" in item ? `${item.step.kind} at ${clock(item.at)}` : `${item.command.command.slice(0, 80)} at ${clock(item.at)}`;
			const end = "command" in item ? (item.command.to ?? length) : item.at;
			return (
				<button
					key={item.id}
					type="button"
					class={`run-mark is-${"step" in item ? item.step.kind : item.command.status}`}
					style={{ left: share(item.at), width: `max(6px, ${share(end - item.at)})` }}
					title={words}
					aria-label={words}
					onClick={() => go(item.id)}
				/>
			);
		});
	return (
		<div class="run-axis">
			<div class="run-lane">{marks("step")}</div>
			<div class="run-lane">{marks("command")}</div>
			<p>
				<span>0 s</span>
				<span>{clock(length)}</span>
			</p>
		</div>
	);
}

function Step({ id, step: { at, kind, text, calls, failed } }: { id: string; step: StepView }) {
	const names = { said: "Task", answer: "Model", result: failed ? "Result, failed" : "Result", note: "Note" } as const;
	return (
		<article id={id} class={`run-step is-${kind}${failed ? " bad" : ""}`}>
			<p class="run-when">
				{clock(at)} · {names[kind]}
			</p>
			{text !== "" && (kind === "result" ? <CodeBlock text={text} label="result" /> : <p class="run-text">{text}</p>)}
			{calls.map(({ name, args }, index) => (
				<CodeBlock key={index} text={args} language={name} label="arguments" />
			))}
		</article>
	);
}

function Command({ id, host, command }: { id: string; host: Around["host"]; command: CommandView }) {
	const { from, to, exit, status, output, bytes } = command;
	const end = to === null ? "runs" : exit === null ? status : `exit ${exit}`;
	return (
		<article id={id} class="run-step command">
			<p class="run-when">
				{clock(from)}
				{to === null ? "" : ` to ${clock(to)}`} · <span class={exit === 0 || to === null ? "" : "run-word failed"}>{end}</span> ·{" "}
				<a href={host.terminalHref(command.id)}>terminal</a>
			</p>
			<CodeBlock text={command.command} language="$" label="command" />
			{output !== "" && <CodeBlock text={output} language={bytes > output.length ? `the last of ${bytes} bytes` : ""} label="output" />}
		</article>
	);
}

function Live({ host, id }: { host: Around["host"]; id: string }) {
	const place = useRef<HTMLDivElement>(null);
	useEffect(() => (place.current ? host.mountTerminal(place.current, id, () => {}) : undefined), [id]);
	return <div ref={place} class="run-live" />;
}

function clock(ms: number): string {
	if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
	return `${Math.floor(ms / 60_000)}:${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, "0")}`;
}
