/** Suggests names similar to a missing one. */
import path from "node:path";
import type { Files } from "../../places/files/index.js";

const SHOWN = 5;

export async function similarTo(files: Files, file: string): Promise<{ similar: string[]; hint: string }> {
	let dir = path.posix.dirname(file);
	let wanted = path.posix.basename(file);
	while (dir !== "/" && (await files.stat(dir).catch(() => undefined))?.kind !== "directory") {
		wanted = path.posix.basename(dir);
		dir = path.posix.dirname(dir);
	}
	const missing = dir === path.posix.dirname(file) ? "" : ` ${dir} has no directory "${wanted}".`;
	const names: string[] = await files.list(dir).then(
		(entries) => entries.map(({ name }) => name),
		() => [],
	);
	if (missing === "" && names.includes(wanted)) return { similar: [], hint: `: ${unnameable(wanted)}` }; // the name looks the same when decoded as text
	const ranked = names
		.filter((name) => !name.includes("\ufffd")) // the decoded name would not be found
		.map((name) => ({ name, score: likeness(wanted.toLowerCase(), name.toLowerCase()) }))
		.filter(({ score }) => score > 0.45)
		.sort((a, b) => b.score - a.score);
	const similar = ranked.slice(0, SHOWN).map(({ name }) => path.posix.join(dir, name));
	const hint = similar.length > 0 ? ` Perhaps: ${similar.join(", ")}` : ' search_files(target="names") finds files by name';
	return { similar, hint: `.${missing}${hint}` };
}

/** Returns why a listed name cannot be opened, and what to do. */
export const unnameable = (name: string): string =>
	`its name is not UTF-8 (each \ufffd stands for bytes that a tool cannot be given); use a command with a pattern instead, such as \`cat ./${path.posix.basename(name).replace(/\ufffd+/g, "*")}\``;

/** Returns the share of letter pairs that two texts have in common, from 0 to 1. */
export function likeness(one: string, two: string): number {
	if (one === two) return 1;
	if (one.length < 2 || two.length < 2) return 0;
	const pairs = new Map<string, number>();
	for (let at = 0; at < one.length - 1; at++) pairs.set(one.slice(at, at + 2), (pairs.get(one.slice(at, at + 2)) ?? 0) + 1);
	let shared = 0;
	for (let at = 0; at < two.length - 1; at++) {
		const left = pairs.get(two.slice(at, at + 2)) ?? 0;
		if (left === 0) continue;
		pairs.set(two.slice(at, at + 2), left - 1);
		shared++;
	}
	const dice = (2 * shared) / (one.length + two.length - 2);
	return one.includes(two) || two.includes(one) ? Math.max(dice, 0.6) : dice;
}
