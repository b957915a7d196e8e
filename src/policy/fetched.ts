/** Trees that a text brings from the network: what an archive, a clone or a patch has put there is run unseen if the same text runs it. */
import path from "node:path";
import { effectsOf } from "./effects.js";
import { is, says } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { gitWords } from "./git.js";
import { runsFile } from "./interpreters.js";
import { directoryOption } from "./options.js";
import { isWithin, placesOf } from "./paths.js";
import type { Scope } from "./scope.js";
import { isFetcher } from "./setup.js";
import { UNKNOWN, type Word, word } from "./word.js";

export interface FetchedTree {
	readonly at: string;
	/** Files of a clone are run by name; those of an archive or a patch also by the tools of the project. */
	readonly kind: "clone" | "archive" | "patch";
}

const ADDRESS = /^(?:https?|git|ssh):\/\/|^[\w.-]+@[\w.-]+:/;

/** Returns the trees that a command fetches. */
export function fetchedTrees(command: FoundCommand, scope: Scope): FetchedTree[] {
	if (command.remote) return [];
	const at = (list: readonly Word[], kind: FetchedTree["kind"]): FetchedTree[] =>
		list.flatMap((one) => placesOf(one, command, scope.world).flatMap((place) => (place === null ? [] : [{ at: place, kind }])));
	if (is(command, "git")) {
		const [verb, ...rest] = gitWords(command);
		if (verb === "clone") {
			const [url, directory] = rest.filter(
				(text, index) => !text.startsWith("-") && !/^(?:-b|--branch|--depth|-c|--config|-o|--origin|-j)$/.test(rest[index - 1] ?? ""),
			);
			return url !== undefined && ADDRESS.test(url) ? at([word(directory ?? path.basename(url).replace(/\.git$/, ""))], "clone") : [];
		}
		return (verb === "apply" || verb === "am") && isUnseen(command, scope) ? at([word(".")], "patch") : [];
	}
	if (is(command, "patch")) return isUnseen(command, scope) ? at([word(".")], "patch") : [];
	const unpacked = effectsOf(command).filter(({ deed }) => deed === "unpacks");
	if (unpacked.length === 0 || !isUnseen(command, scope)) return [];
	return at(
		unpacked.map(({ file }) => file),
		"archive",
	);
}

/** Returns whether the input of a command comes from the network, by a pipe or as a file that the same text has fetched. */
const isUnseen = (command: FoundCommand, scope: Scope): boolean =>
	command.upstream.some(isFetcher) || [...command.args, ...command.reads].some((one) => !one.text.startsWith("-") && scope.written(one)?.includes(UNKNOWN));

const TOOLS = /^(?:g?make|ninja|cmake|npm|pnpm|yarn|bun|npx|pip3?|cargo|go|pytest|gradlew?|mvn|just|task)$/;

/** Whether a command runs something out of such a tree. */
export function runsFetched(command: FoundCommand, program: Word | undefined, scope: Scope): boolean {
	if (scope.fetched.trees.length === 0 || command.remote) return false;
	const file = runsFile(command)?.file ?? (program?.text.includes("/") ? program : undefined);
	const name = command.names.at(-1) ?? "";
	const tool = TOOLS.test(name) && !says(command, /^(?:view|ls|list|help)\b/) ? (directoryOption(command.names, command) ?? word(".")) : undefined;
	const within = (one: Word | undefined, fits: (tree: FetchedTree, place: string) => boolean): boolean =>
		one !== undefined &&
		placesOf(one, command, scope.world).some((place) => place !== null && scope.fetched.trees.some((tree) => isWithin(place, tree.at) && fits(tree, place)));
	// In the directory that an archive was unpacked in, a file that is there already is one's own.
	return (
		within(file, ({ kind, at }, place) => kind !== "archive" || (place !== at && !scope.isThere(place))) ||
		within(tool, ({ kind, at }, place) => kind === "patch" || (kind === "archive" && (place !== at || !isWithin(scope.world.cwd, at)) && !scope.isThere(place)))
	);
}

/** Whether a script is run from where browsers put what they have fetched. */
export const runsDownload = (command: FoundCommand, program: Word | undefined, { world }: Scope): boolean => {
	const file = runsFile(command)?.file ?? (program?.text.includes("/") ? program : undefined);
	return (
		file !== undefined &&
		!command.remote &&
		placesOf(file, command, world).some((place) => place !== null && isWithin(place, path.join(world.home, "Downloads")) && !isWithin(place, world.cwd))
	);
};

/** `git push x`, where the same text has said what x is: as if the address stood there. */
export function pushesTo(command: FoundCommand, { remotes }: Scope): { argv: Word[] }[] {
	if (remotes.size === 0 || !is(command, "git")) return [];
	const [verb, ...rest] = gitWords(command);
	const name = rest.find((text) => !text.startsWith("-")) ?? "origin";
	const url = verb === "push" ? remotes.get(name) : undefined;
	return url === undefined ? [] : [{ argv: ["git", "push", url].map(word) }];
}

/** Takes down which remotes a command of git adds or changes. */
export function keepRemotes(command: FoundCommand, { remotes }: Scope): void {
	if (!is(command, "git")) return;
	const [verb, action, ...rest] = gitWords(command);
	if (verb !== "remote" || (action !== "add" && action !== "set-url")) return;
	const [name, url] = rest.filter((text, at) => !text.startsWith("-") && !/^-[tm]$/.test(rest[at - 1] ?? ""));
	if (name !== undefined && url !== undefined && (ADDRESS.test(url) || url.includes(UNKNOWN)))
		remotes.set(name, url.includes(UNKNOWN) ? `https://${url}` : url);
}
