/** The text of a file, as text and nothing else. */
import type { FileView } from "../../../src/doors/http/schemas.js";
import { content } from "../api/calls.js";
import { bytes } from "../ui/format.js";
import { Empty, Failed, Loading } from "../ui/said.js";
import { useLoaded } from "../ui/use-loaded.js";

const MOST_BYTES = 512 * 1024;

/** `session_id`: of the process on whose machine it is. */
export function FileText({ view, session_id }: { view: FileView; session_id: string | undefined }) {
	const readable = view.type === "file" && view.text === true && view.size > 0;
	const { value, error } = useLoaded(
		async (signal) => (readable ? new TextDecoder().decode(await content(view.path, session_id, MOST_BYTES, signal)) : ""),
		[view.path],
	);
	if (error) return <Failed error={error} />;
	if (view.type === "other")
		return (
			<Empty title="Not a file">
				<p>This is a pipe, a socket or a device: there is nothing in it to show.</p>
			</Empty>
		);
	if (view.size === 0) return <Empty title="An empty file" />;
	if (!readable)
		return (
			<Empty title="Not text">
				<p>This file has {bytes(view.size)} of something that is not text. “Download” takes it as it is.</p>
			</Empty>
		);
	if (value === undefined) return <Loading what="the file" />;
	return (
		<>
			{view.size > MOST_BYTES && (
				<p class="quiet">
					The first {bytes(MOST_BYTES)} of {bytes(view.size)}. “Download” takes all of it.
				</p>
			)}
			<section class="file-text" aria-label={`Text of ${view.path}`}>
				{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
				<pre tabIndex={0}>{value}</pre>
			</section>
		</>
	);
}
