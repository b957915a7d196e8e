/** A recording, played: with its own times, at any speed, from any moment. */
import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { download, recording, recordingPath } from "../api/calls.js";
import { nameOf, processes } from "../state/processes.js";
import { href } from "../state/route.js";
import { theme } from "../state/theme.js";
import { type Cast, hurried, readCast } from "../terminal/cast.js";
import { coloursOf } from "../terminal/colours.js";
import { createPane } from "../terminal/create.js";
import { Player } from "../terminal/player.js";
import { Button } from "../ui/button.js";
import { brief } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { Failed, Loading } from "../ui/said.js";
import { tell } from "../ui/toasts.js";
import { useLoaded } from "../ui/use-loaded.js";

const SPEEDS = [0.5, 1, 2, 4, 8, 16];
const SILENCE_S = 1;

export function RecordingPage({ id }: { id: string }) {
	const { value, error } = useLoaded(async (signal) => readCast(await recording(id, signal)), [id]);
	const process = processes.value.get(id);
	return (
		<article class="terminal" aria-label="Recording">
			<header class="term-head">
				<a class="button bare icon" href={href(["p", id])} aria-label="Back to the terminal">
					<Icon name="back" />
				</a>
				<div class="term-what">
					<h1 class="mono">{process ? nameOf(process) : id}</h1>
					<span class="term-state quiet">recording</span>
				</div>
				<div class="term-tools">
					<Button icon="download" label="As asciicast v2, for asciinema and others" onClick={() => tell(download(recordingPath(id)))}>
						Download
					</Button>
				</div>
			</header>
			{error ? <Failed error={error} /> : value ? <Playing cast={value} /> : <Loading what="the recording" />}
		</article>
	);
}

function Playing({ cast }: { cast: Cast }) {
	const host = useRef<HTMLDivElement>(null);
	const [player, setPlayer] = useState<Player>();
	const [hurry, setHurry] = useState(false);
	useEffect(() => {
		const shown = hurry ? hurried(cast, SILENCE_S) : cast;
		const pane = createPane(host.current as HTMLElement, { mode: theme.value, cols: cast.cols, rows: cast.rows, disableStdin: true });
		const made = new Player(pane.terminal, shown);
		setPlayer(made);
		void made.seek(shown.seconds); // how it ended is what most want to know
		Object.assign(window, { holdfast: made });
		const undo = effect(() => {
			pane.terminal.options.theme = coloursOf(theme.value);
		});
		return () => {
			undo();
			made.dispose();
			pane.dispose();
		};
	}, [cast, hurry]);
	return (
		<>
			{cast.cut && <p class="hands">This recording is too long for a page: only its beginning plays. Download it for the whole.</p>}
			<div class="screens">
				<div ref={host} class="screen" />
			</div>
			{player && <Controls key={String(hurry)} player={player} hurry={hurry} onHurry={() => setHurry(!hurry)} />}
		</>
	);
}

function Controls({ player, hurry, onHurry }: { player: Player; hurry: boolean; onHurry: () => void }) {
	const playing = player.playing.value;
	const at = player.position.value;
	return (
		<div class="player">
			<Button icon={playing ? "pause" : "play"} kind="primary" label={playing ? "Pause" : "Play"} onClick={() => (playing ? player.pause() : player.play())} />
			<input
				type="range"
				aria-label="Moment"
				aria-valuetext={brief(at)}
				min={0}
				max={player.cast.seconds}
				step={0.05}
				value={at}
				onInput={(event) => void player.seek(Number(event.currentTarget.value))}
			/>
			<span class="num quiet">
				{brief(at)} / {brief(player.cast.seconds)}
			</span>
			<label class="by">
				<span>speed</span>
				<select value={player.speed.value} onChange={(event) => (player.speed.value = Number(event.currentTarget.value))}>
					{SPEEDS.map((speed) => (
						<option key={speed} value={speed}>
							{speed}×
						</option>
					))}
				</select>
			</label>
			<label class="check">
				<input type="checkbox" checked={hurry} onChange={onHurry} /> skip silence
			</label>
		</div>
	);
}
