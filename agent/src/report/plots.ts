/** Drawings for the report, as SVG text: no script, and colours by the page's custom properties. */

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const [WIDTH, HEIGHT] = [440, 180];
const [LEFT, BOTTOM] = [38, 24];

const svg = (title: string, inner: string): string =>
	`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}"><title>${escaped(title)}</title>${inner}</svg>`;
const text = (x: number, y: number, words: string, anchor = "middle"): string => `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(words)}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number): string => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
const round = (value: number): number => Math.round(value * 10) / 10;

/** How many values are in each of some ranges of the same width. */
export function histogram(title: string, values: readonly number[], show: (value: number) => string, bins = 20): string {
	const [least, most] = [Math.min(...values, 0), Math.max(...values, 0)];
	const width = (most - least) / bins || 1;
	const counts = new Array<number>(bins).fill(0);
	for (const value of values) {
		const bin = Math.min(bins - 1, Math.floor((value - least) / width));
		counts[bin] = (counts[bin] ?? 0) + 1;
	}
	const highest = Math.max(...counts, 1);
	const step = (WIDTH - LEFT) / bins;
	const bars = counts.map((count, at) => {
		const high = (count / highest) * (HEIGHT - BOTTOM - 14);
		const range = `${show(least + at * width)} to ${show(least + (at + 1) * width)}: ${count}`;
		return `<rect x="${round(LEFT + at * step + 1)}" y="${round(HEIGHT - BOTTOM - high)}" width="${round(step - 2)}" height="${round(high)}"><title>${escaped(range)}</title></rect>`;
	});
	const axis = line(LEFT, HEIGHT - BOTTOM, WIDTH, HEIGHT - BOTTOM) + text(LEFT, HEIGHT - 6, show(least), "start") + text(WIDTH, HEIGHT - 6, show(most), "end");
	return svg(title, `${bars.join("")}${axis}${text(LEFT - 4, 22, String(highest), "end")}${text(LEFT - 4, HEIGHT - BOTTOM, "0", "end")}`);
}

/** Rates from 0 to 1 over 1, 2, 3 … */
export function curve(title: string, rates: readonly number[]): string {
	const high = HEIGHT - BOTTOM - 14;
	const x = (at: number): number => round(LEFT + 10 + (rates.length === 1 ? 0 : (at / (rates.length - 1)) * (WIDTH - LEFT - 24)));
	const y = (rate: number): number => round(HEIGHT - BOTTOM - rate * high);
	const points = rates.map((rate, at) => `${x(at)},${y(rate)}`);
	const dots = rates.map((rate, at) => `<circle cx="${x(at)}" cy="${y(rate)}" r="3"><title>${at + 1}: ${(rate * 100).toFixed(1)} %</title></circle>`);
	const grid = [0, 0.5, 1].map((rate) => line(LEFT, y(rate), WIDTH, y(rate)) + text(LEFT - 4, y(rate) + 4, `${rate * 100} %`, "end"));
	const ends = text(x(0), HEIGHT - 6, "1") + (rates.length > 1 ? text(x(rates.length - 1), HEIGHT - 6, String(rates.length)) : "");
	return svg(title, `${grid.join("")}<polyline points="${points.join(" ")}"/>${dots.join("")}${ends}`);
}

/** A bar for each name, with a second part in another colour. */
export function bars(title: string, rows: readonly { readonly name: string; readonly count: number; readonly bad: number }[]): string {
	const most = Math.max(...rows.map(({ count }) => count), 1);
	const step = Math.min(26, (HEIGHT - 10) / Math.max(rows.length, 1));
	const full = WIDTH - 180;
	const drawn = rows.map(({ name, count, bad }, at) => {
		const y = round(6 + at * step);
		const part = (from: number, size: number, kind: string): string =>
			`<rect class="${kind}" x="${round(120 + (from / most) * full)}" y="${y}" width="${round((size / most) * full)}" height="${round(step - 5)}"/>`;
		return `<g><title>${escaped(`${name}: ${count}, ${bad} failed`)}</title>${part(0, count - bad, "good")}${part(count - bad, bad, "bad")}${text(114, y + step / 2 + 2, name.slice(0, 16), "end")}${text(round(126 + (count / most) * full), y + step / 2 + 2, bad > 0 ? `${count} (${bad})` : String(count), "start")}</g>`;
	});
	return svg(title, drawn.join(""));
}
