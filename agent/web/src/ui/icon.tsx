/** The few drawings of this part, in the manner of the page's: strokes on a grid of 16, for the eye only. */
const PATHS = {
	plus: "M8 3v10M3 8h10",
	back: "M10 3L5 8l5 5",
	send: "M2.5 8h9M8 3.8L12.2 8 8 12.2",
	stop: "M4 4h8v8H4z",
	later: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 5v3.2l2 1.6",
	edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2z",
	log: "M3 4h10M3 8h10M3 12h6",
	terminal: "M2 3.5h12v9H2zM4.5 6.5l2 1.7-2 1.7M8.5 10.5h3",
	close: "M4 4l8 8M12 4l-8 8",
	down: "M3 6l5 5 5-5",
	search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.4 3.4",
	run: "M8 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z",
	ok: "M3.5 8.5l3 3 6-7",
	bad: "M4.5 4.5l7 7M11.5 4.5l-7 7",
	skipped: "M3 8h10",
	unknown: "M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.5M8 12v.1",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }) => (
	<svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
		<path d={PATHS[name]} />
	</svg>
);
