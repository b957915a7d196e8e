/** One conversation: what was said and done, what is under way, and where one writes. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { blocksOf } from "../state/blocks.js";
import { Icon } from "../ui/icon.js";
import { ArrivingMarkdown } from "../ui/markdown.js";
import { shownText } from "../ui/text.js";
import { BlockView } from "./block.js";
import { useAround } from "./context.js";
import { Foot } from "./foot.js";
import { Head } from "./head.js";

const NEAR_PX = 80;

export function Conversation({ id }: { id: string }) {
	const { store } = useAround();
	const entries = store.entries.value;
	const blocks = useMemo(() => blocksOf(entries ?? []), [entries]);
	const broken = store.broken.value;
	if (broken)
		return (
			<div class="said bad" role="alert">
				<h2>{broken.code === "NOT_FOUND" ? "This conversation is not there" : "This conversation cannot be read"}</h2>
				<p>{shownText(broken.message)}</p>
			</div>
		);
	if (!entries)
		return (
			<p class="said quiet" role="status">
				<span class="beat">Getting the conversation …</span>
			</p>
		);
	return (
		<>
			<Head id={id} entries={entries} />
			<Scrolled>
				{store.earlier.value && <Earlier />}
				<ol class="ag-turns">
					{blocks.map((block) => (
						<BlockView key={block.n} block={block} />
					))}
					<Arriving />
				</ol>
			</Scrolled>
			<Foot id={id} entries={entries} />
		</>
	);
}

function Earlier() {
	const { store, host } = useAround();
	const [busy, setBusy] = useState(false);
	const load = async () => {
		setBusy(true);
		await store.loadEarlier().catch((error: Error) => host.say(error.message, true));
		setBusy(false);
	};
	return (
		<button type="button" class="button bare ag-earlier" disabled={busy} onClick={() => void load()}>
			{busy ? "Getting earlier messages …" : "Earlier messages"}
		</button>
	);
}

/** The answer that is arriving. */
function Arriving() {
	const { store } = useAround();
	const text = store.text.value;
	const thought = store.thought.value;
	if (text === "" && thought === "") return null;
	return (
		<li class="ag-turn answer">
			{thought !== "" && (
				<details class="ag-thought">
					<summary>Thinks …</summary>
					<p class="ag-plain">{shownText(thought)}</p>
				</details>
			)}
			{text !== "" && <ArrivingMarkdown text={text} />}
		</li>
	);
}

/** Stays at the end while one is there, and where one is while one reads above it. */
function Scrolled({ children }: { children: preact.ComponentChildren }) {
	const { store } = useAround();
	const box = useRef<HTMLDivElement>(null);
	const inner = useRef<HTMLDivElement>(null);
	const atEnd = useRef(true);
	const [away, setAway] = useState(false);
	const toEnd = () => {
		const element = box.current;
		if (element) element.scrollTop = element.scrollHeight;
	};
	// What one has said oneself one wants to see.
	const said = store.sent.value;
	useEffect(() => {
		if (said === 0) return;
		atEnd.current = true;
		toEnd();
	}, [said]);
	useEffect(() => {
		const observer = new ResizeObserver(() => atEnd.current && toEnd());
		if (inner.current) observer.observe(inner.current);
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	// What was read stays in its place when something is put before it.
	const first = store.entries.value?.[0]?.n;
	const before = useRef({ first, height: 0 });
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) return;
		if (before.current.first !== undefined && first !== undefined && first < before.current.first)
			element.scrollTop += element.scrollHeight - before.current.height;
		before.current = { first, height: element.scrollHeight };
	});
	const scrolled = () => {
		const element = box.current;
		if (!element) return;
		atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
		setAway(!atEnd.current);
	};
	return (
		<div class="ag-scroll">
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
			<div ref={box} class="ag-log" role="log" aria-label="What was said" aria-live="off" tabIndex={0} onScroll={scrolled}>
				<div ref={inner} class="ag-inner">
					{children}
				</div>
			</div>
			{away && (
				<button
					type="button"
					class="button ag-to-end"
					onClick={() => {
						atEnd.current = true;
						toEnd();
					}}
				>
					<Icon name="down" />
					To the end
				</button>
			)}
		</div>
	);
}
