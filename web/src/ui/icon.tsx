/** The few drawings of the page: strokes on a grid of 16, in the colour of the text. They are for the eye only; names are beside them. */
const PATHS = {
	terminals: "M2 3.5h12v9H2zM4.5 6.5l2 1.7-2 1.7M8.5 10.5h3",
	approvals: "M8 1.8l5 2v4c0 3.2-2.1 5.3-5 6.4-2.9-1.1-5-3.2-5-6.4v-4zM5.7 8l1.7 1.7 3-3.2",
	wall: "M2 3h5v4H2zM9 3h5v4H9zM2 9h5v4H2zM9 9h5v4H9z",
	timeline: "M2 4h6M5 8h7M8 12h6",
	files: "M2 4.2h4l1.4 1.6H14v7H2z",
	search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.4 3.4",
	plus: "M8 3v10M3 8h10",
	settings: "M2 4.5h6M12 4.5h2M10 2.7a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6zM2 11.5h2M8 11.5h6M6 9.7a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z",
	bell: "M4 11V7.2a4 4 0 0 1 8 0V11l1.2 1.4H2.8zM6.6 14h2.8",
	back: "M10 3L5 8l5 5",
	forward: "M6 3l5 5-5 5",
	up: "M3 10l5-5 5 5",
	down: "M3 6l5 5 5-5",
	close: "M4 4l8 8M12 4l-8 8",
	keyboard: "M1.5 4.5h13v7h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.5h6",
	link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.8-.8",
	copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
	play: "M4.5 3l8 5-8 5z",
	pause: "M5 3v10M11 3v10",
	download: "M8 2v8M4.8 7L8 10.2 11.2 7M3 13.5h10",
	upload: "M8 10.2V2.4M4.8 5.4L8 2.2l3.2 3.2M3 13.5h10",
	fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
	stop: "M4 4h8v8H4z",
	again: "M13 8a5 5 0 1 1-1.6-3.7M13 2.2v3h-3",
	pin: "M6 2h4M6.6 2v4L4.5 8.5h7L9.4 6V2M8 8.5V14",
	beside: "M2 3h12v10H2zM8 3v10",
	edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2z",
	record: "M8 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z",
	folder: "M2 4.2h4l1.4 1.6H14v7H2z",
	file: "M4 2h5l3 3v9H4zM9 2v3h3",
	info: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 7.2v4M8 4.9v.1",
	preview: "M2 3h12v10H2zM2 6h12M4 4.5h.01M6 4.5h.01",
	tree: "M3.5 2.5v9.2h4M3.5 6.5h4M9 5h4.5v3H9zM9 10.2h4.5v3H9z",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }) => <Drawing path={PATHS[name]} />;

/** One that is not of the page itself. */
export const Drawing = ({ path }: { path: string }) => (
	<svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">
		<path d={path} />
	</svg>
);
