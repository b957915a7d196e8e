/** Every terminal that runs, small and live: what waits for a person first. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { lines, screen } from "../api/calls.js";
import { isRunning, isWaiting, known, nameOf, newestFirst } from "../state/processes.js";
import { href } from "../state/route.js";
import { Empty, Loading } from "../ui/said.js";
import { Glyph, StatusWords } from "../ui/status.js";

const EVERY_MS = 1_500; // a screen is drawn by the server
const ROWS = 24;

export function WallPage() {
	const running = newestFirst.value.filter(isRunning);
	const shown = [...running.filter(isWaiting), ...running.filter((process) => !isWaiting(process))];
	return (
		<div class="page broad">
			<header class="page-head broad">
				<h1>Wall</h1>
				<span class="quiet num">{shown.length} running</span>
			</header>
			{!known.value ? (
				<Loading what="the terminals" />
			) : shown.length === 0 ? (
				<Empty title="Nothing runs">
					<p>Whatever an agent or you start is here while it runs.</p>
				</Empty>
			) : (
				<ul class="wall">
					{shown.map((process) => (
						<Thumbnail key={process.session_id} process={process} />
					))}
				</ul>
			)}
		</div>
	);
}

function Thumbnail({ process }: { process: ProcessItem }) {
	const host = useRef<HTMLLIElement>(null);
	const { text, cols } = useScreen(process, useVisible(host));
	return (
		<li ref={host} class={isWaiting(process) ? "thumb loud" : "thumb"}>
			<a href={href(["p", process.session_id])}>
				<span class="thumb-head">
					<Glyph process={process} />
					<span class="mono">{nameOf(process)}</span>
					<StatusWords process={process} />
				</span>
				<pre aria-hidden="true" style={{ "--cols": cols }}>
					<code>{text}</code>
				</pre>
				<span class="quiet">{process.task}</span>
			</a>
		</li>
	);
}

interface Small {
	readonly text: string;
	readonly cols: number;
}

/** Asks again when something was printed, but not all the time, and only while it is in sight. */
function useScreen(process: ProcessItem, visible: boolean): Small {
	const [small, setSmall] = useState<Small>({ text: "", cols: 80 });
	const asked = useRef(-EVERY_MS);
	const gone = useRef<AbortController>(new AbortController());
	useEffect(() => () => gone.current.abort(), []);
	useEffect(() => {
		if (!visible) return;
		const timer = setTimeout(
			() => {
				asked.current = performance.now();
				const { signal } = gone.current;
				look(process, signal).then(
					(found) => signal.aborted || setSmall(found),
					() => {}, // it has ended, or the server is away: the banner says so
				);
			},
			asked.current + EVERY_MS - performance.now(),
		);
		return () => clearTimeout(timer);
	}, [process.total_bytes, process.status, visible]);
	return small;
}

async function look({ session_id, pty }: ProcessItem, signal: AbortSignal): Promise<Small> {
	if (pty) {
		const { screen: text, cols } = await screen(session_id, signal);
		return { text, cols };
	}
	const page = await lines(session_id, ROWS, signal);
	return { text: page.lines.map(({ text }) => text).join("\n"), cols: 80 };
}

function useVisible(host: { readonly current: HTMLElement | null }): boolean {
	const [visible, setVisible] = useState(false);
	useEffect(() => {
		const observer = new IntersectionObserver((entries) => setVisible(entries.at(-1)?.isIntersecting ?? false));
		observer.observe(host.current as HTMLElement);
		return () => observer.disconnect();
	}, []);
	return visible;
}
