/** A line with what was searched for marked in it. */
export function Marked({ text, wanted }: { text: string; wanted: string }) {
	const at = wanted ? text.toLowerCase().indexOf(wanted.toLowerCase()) : -1;
	if (at < 0) return <code>{text}</code>;
	return (
		<code>
			{text.slice(0, at)}
			<mark>{text.slice(at, at + wanted.length)}</mark>
			{text.slice(at + wanted.length)}
		</code>
	);
}
