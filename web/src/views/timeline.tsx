/** A tree beside a timeline: each process with its start, its parent, its task and its duration. */
import { computed, signal } from "@preact/signals";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { now } from "../state/clock.js";
import { known, nameOf, processes } from "../state/processes.js";
import { href } from "../state/route.js";
import { brief, clock } from "../ui/format.js";
import { Empty, Loading } from "../ui/said.js";
import { Glyph, toneOf } from "../ui/status.js";
import { secondsOf } from "./list-row.js";
import { TaskUseLine, useTaskUse } from "./task-use.js";

const SPANS = { everything: 0, "the last 5 minutes": 300, "the last hour": 3_600, "the last day": 86_400 } as const;
type Span = keyof typeof SPANS;
const span = signal<Span>("everything");

interface Branch {
	readonly process: ProcessItem;
	readonly depth: number;
}

/** Returns the rows by task, children below their parents, oldest first. */
const trees = computed(() => {
	const all = [...processes.value.values()].sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
	const children = Map.groupBy(all, ({ parent }) => (parent !== null && processes.value.has(parent) ? parent : ""));
	const tasks = new Map<string, Branch[]>();
	const add = (process: ProcessItem, depth: number, branches: Branch[]): void => {
		branches.push({ process, depth });
		for (const child of children.get(process.session_id) ?? []) if (depth < 20) add(child, depth + 1, branches);
	};
	for (const root of children.get("") ?? []) {
		const branches = tasks.get(root.task) ?? [];
		tasks.set(root.task, branches);
		add(root, 0, branches);
	}
	return [...tasks];
});

export function Timeline() {
	useTaskUse();
	const end = now.value;
	const oldest = Math.min(end - 1_000, ...[...processes.value.values()].map(({ started_at }) => Date.parse(started_at)));
	const begin = SPANS[span.value] === 0 ? oldest : end - SPANS[span.value] * 1_000;
	return (
		<div class="page">
			<header class="page-head broad">
				<h1>Timeline</h1>
				<label class="by">
					<span>show</span>
					<select value={span.value} onChange={(event) => (span.value = event.currentTarget.value as Span)}>
						{Object.keys(SPANS).map((word) => (
							<option key={word}>{word}</option>
						))}
					</select>
				</label>
			</header>
			{!known.value ? (
				<Loading what="the processes" />
			) : trees.value.length === 0 ? (
				<Empty title="Nothing has run yet">
					<p>As soon as an agent or you start something, it is here with its times.</p>
				</Empty>
			) : (
				trees.value.map(([task, branches]) => <Task key={task} task={task} branches={branches} begin={begin} end={end} />)
			)}
		</div>
	);
}

function Task({ task, branches, begin, end }: { task: string; branches: readonly Branch[]; begin: number; end: number }) {
	const inside = branches.filter(({ process }) => !process.ended_at || Date.parse(process.ended_at) >= begin);
	if (inside.length === 0) return null;
	return (
		<section class="lane" aria-label={`Task ${task}`}>
			<h2>
				<a href={href(["t", task])}>{task}</a>
				<small class="quiet num">
					{clock(begin)} – {clock(end)}
				</small>
			</h2>
			<TaskUseLine task={task} />
			<ol>
				{inside.map(({ process, depth }) => (
					<Bar key={process.session_id} process={process} depth={depth} begin={begin} end={end} />
				))}
			</ol>
		</section>
	);
}

const KINDS = { process: "", command: "call", shell: "shell", sandbox: "sandbox" } as const;

function Bar({ process, depth, begin, end }: Branch & { begin: number; end: number }) {
	const part = (time: number) => (100 * (Math.min(Math.max(time, begin), end) - begin)) / (end - begin);
	const from = part(Date.parse(process.started_at));
	const to = part(process.ended_at ? Date.parse(process.ended_at) : end);
	const took = brief(secondsOf(process, end));
	return (
		<li>
			<a href={href(["p", process.session_id])}>
				<span class="lane-name mono" style={{ paddingLeft: `${depth * 1.1}rem` }}>
					<Glyph process={process} />
					<span>{nameOf(process)}</span>
					{KINDS[process.kind] && <small class="quiet">{KINDS[process.kind]}</small>}
				</span>
				<span class="lane-time quiet num">
					{clock(process.started_at)}, {took}
				</span>
				<span class="track" aria-hidden="true">
					<span class={`bar ${toneOf(process)}`} style={{ left: `${from}%`, width: `${Math.max(0.4, to - from)}%` }} />
				</span>
			</a>
		</li>
	);
}
