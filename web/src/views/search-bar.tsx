/** Search in what the terminal holds, and in the whole log. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchResult } from "../../../src/doors/http/schemas.js";
import { search } from "../api/calls.js";
import type { TerminalView } from "../terminal/view.js";
import { Button } from "../ui/button.js";
import { bytes } from "../ui/format.js";
import { Marked } from "../ui/marked.js";
import { tell } from "../ui/toasts.js";

const MARKS = {
	matchBackground: "#d9b25e",
	matchOverviewRuler: "#d9902b",
	activeMatchBackground: "#f08c3a",
	activeMatchColorOverviewRuler: "#f08c3a",
};

export function SearchBar({ view, owner, onClose }: { view: TerminalView; owner: boolean; onClose: () => void }) {
	const input = useRef<HTMLInputElement>(null);
	const [text, setText] = useState("");
	const [count, setCount] = useState<{ at: number; of: number }>();
	const [found, setFound] = useState<SearchResult>();
	const pane = view.shown;
	useEffect(() => input.current?.focus(), []);
	useEffect(() => {
		const heard = pane.search.onDidChangeResults(({ resultIndex, resultCount }) => setCount({ at: resultIndex + 1, of: resultCount }));
		return () => {
			heard.dispose();
			pane.search.clearDecorations();
		};
	}, [pane]);
	const next = (back = false, incremental = false) => {
		if (!text) return;
		if (back) pane.search.findPrevious(text, { decorations: MARKS });
		else pane.search.findNext(text, { decorations: MARKS, incremental });
	};
	useEffect(() => {
		if (text) next(true, true);
		else pane.search.clearDecorations();
	}, [text]);
	return (
		<search class="find">
			<form
				onSubmit={(event) => {
					event.preventDefault();
					next(true);
				}}
				onKeyDown={(event) => {
					if (event.key === "Escape") onClose();
				}}
			>
				<input
					ref={input}
					class="input"
					type="search"
					aria-label="Search in this terminal"
					placeholder="Search"
					value={text}
					onInput={(event) => setText(event.currentTarget.value)}
				/>
				<span class="quiet num" role="status">
					{text && count ? (count.of ? `${count.at || "–"} of ${count.of}` : "not on the screen") : ""}
				</span>
				<Button icon="up" label="The one before" kind="bare" submit />
				<Button icon="down" label="The next" kind="bare" onClick={() => next()} />
				{owner && (
					<Button disabled={!text} onClick={() => tell(search({ q: text, session_id: view.detail.session_id, limit: 200 }).then(setFound))}>
						In the whole log
					</Button>
				)}
				<Button icon="close" label="Close the search" kind="bare" onClick={onClose} />
			</form>
			{found && (
				<div class="found" role="status">
					<p class="quiet">
						{found.matches.length} {found.matches.length === 1 ? "line" : "lines"} in {bytes(found.searched_bytes)}
						{found.note && `; ${found.note}`}
					</p>
					<ol>
						{found.matches.map(({ offset, line_offset, line }) => (
							<li key={offset}>
								<button type="button" onClick={() => tell(view.showHistory(line_offset))}>
									<span class="quiet num">{bytes(line_offset)}</span> <Marked text={line} wanted={text} />
								</button>
							</li>
						))}
					</ol>
				</div>
			)}
		</search>
	);
}
