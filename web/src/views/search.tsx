/** Text in all logs. */
import { useState } from "preact/hooks";
import { search } from "../api/calls.js";
import { nameOf, processes } from "../state/processes.js";
import { go, href } from "../state/route.js";
import { Button } from "../ui/button.js";
import { bytes } from "../ui/format.js";
import { Marked } from "../ui/marked.js";
import { Empty, Failed, Loading } from "../ui/said.js";
import { Glyph } from "../ui/status.js";
import { useLoaded } from "../ui/use-loaded.js";

export function SearchPage({ wanted }: { wanted: string }) {
	const [text, setText] = useState(wanted);
	return (
		<div class="page">
			<header class="page-head">
				<h1>Search in logs</h1>
			</header>
			<form
				class="search-form"
				onSubmit={(event) => {
					event.preventDefault();
					if (text.trim()) go(["search"], { q: text.trim() });
				}}
			>
				<input
					type="search"
					class="input"
					aria-label="Text to look for in all logs"
					placeholder="Text, as it was printed"
					value={text}
					onInput={(event) => setText(event.currentTarget.value)}
				/>
				<Button kind="primary" submit>
					Search
				</Button>
			</form>
			{wanted && <Results wanted={wanted} />}
		</div>
	);
}

function Results({ wanted }: { wanted: string }) {
	const { value, error } = useLoaded((signal) => search({ q: wanted, limit: 200 }, signal), [wanted]);
	if (error) return <Failed error={error} />;
	if (!value) return <Loading what="what the logs have" />;
	const groups = Map.groupBy(value.matches, ({ session_id }) => session_id);
	if (groups.size === 0)
		return (
			<Empty title="Not found">
				<p>
					No log has it. {bytes(value.searched_bytes)} were searched{value.note && `; ${value.note}`}.
				</p>
			</Empty>
		);
	return (
		<>
			<p class="quiet" role="status">
				{value.matches.length} {value.matches.length === 1 ? "line" : "lines"} in {groups.size} {groups.size === 1 ? "log" : "logs"},{" "}
				{bytes(value.searched_bytes)} searched
				{value.note && `; ${value.note}`}
			</p>
			{[...groups].map(([id, matches]) => {
				const process = processes.value.get(id);
				return (
					<section key={id} class="hits">
						<h2>
							{process && <Glyph process={process} />}
							<a class="mono" href={href(["p", id])}>
								{process ? nameOf(process) : id}
							</a>
						</h2>
						<ol>
							{matches.map(({ offset, line_offset, line }) => (
								<li key={offset}>
									<a href={href(["p", id], { at: String(line_offset) })}>
										<Marked text={line} wanted={wanted} />
									</a>
								</li>
							))}
						</ol>
					</section>
				);
			})}
		</>
	);
}
