/** Checks about what is lost: whole trees, the work itself, files outside it. */
import fs from "node:fs";
import path from "node:path";
import type { Effect } from "./effect.js";
import { effectsOf } from "./effects.js";
import { hasFlag, is, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { isAtWork, isTemporary, isWithin, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { SOME } from "./word.js";

type Place = string | null;

/** Places that are deleted with everything below. Where others are put aside, only tops count: ordinary work does not move these. */
export function deletedTrees(command: FoundCommand, world: World): Place[] {
	return effectsOf(command).flatMap(({ deed, tree, file }): readonly Place[] => {
		if (!tree || (deed !== "deletes" && deed !== "moves")) return [];
		if (/^[^/]+:/.test(file.text) && is(command, "rsync")) return [null]; // on another machine
		const places = placesOf(file, command, world);
		return deed === "deletes" ? places : places.filter((place) => place !== null && isTop(place, world));
	});
}

const isTop = (place: string, { home }: World): boolean =>
	SYSTEM_TREES.test(place) ||
	path.dirname(place) + path.basename(place) === `/${SOME}` ||
	place === home ||
	isWithin(home, place) ||
	/^\/(?:home|Users|usr|var|lib)\/[^/]+$/.test(place) ||
	place === "/private/etc";

const SYSTEM_TREES = /^\/(?:etc|usr|bin|sbin|lib\w*|boot|sys|proc|dev|run|var|root|home|Users|System|Library|Applications|opt|srv|nix|snap)?$/;

export function wipesRoot(command: FoundCommand, world: World): boolean {
	const isWiped = (place: Place) => place !== null && isTop(place, world) && !isTemporary(place, world);
	if (deletedTrees(command, world).some(isWiped)) return true;
	const recursive = is(command, "chmod", "chown", "chgrp") && hasFlag(command, "-R|--recursive");
	return (
		recursive &&
		words(command)
			.slice(1)
			.some((one) => placesOf(one, command, world).includes("/"))
	);
}

export function deletesOutside(command: FoundCommand, world: World): boolean {
	const outside = (place: Place) => place === null || !(isTemporary(place, world) || isAtWork(place, command, world));
	return (
		deletedTrees(command, world).some(outside) ||
		effectsOf(command).some((effect) => losesOutside(effect, command, world)) ||
		putsAside(command, world) ||
		(command.code !== null && writtenInCode(command.code, world).some((place) => isLostFrom(place, world) && isFile(place, world)))
	);
}

const isLostFrom = (place: string, world: World): boolean => !place.startsWith("/dev/") && !isTemporary(place, world) && !isInProject(place, world);

/** `mv ~/Documents /tmp/x`: what is put on the workbench is thrown away with it. */
function putsAside(command: FoundCommand, world: World): boolean {
	const effects = effectsOf(command);
	const to = effects.filter(({ deed }) => deed === "writes").flatMap(({ file }) => placesOf(file, command, world));
	if (command.remote || !to.some((place) => place !== null && (isTemporary(place, world) || place === "/tmp"))) return false;
	return effects.some(({ deed, file }) => deed === "moves" && placesOf(file, command, world).some((place) => place !== null && isLostFrom(place, world)));
}

const WRITES = /\bopen\s*\([^)]*,\s*["'][rbt]*w|write_(?:text|bytes)\s*\(|\b(?:writeFile|truncate)(?:Sync)?\s*\(|\bFile\.write\s*\(|\bfile_put_contents\s*\(/;
const HOME = /\bHOME\b|expanduser|homedir|\bPath\.home|expand_path/;

/** The paths outside that code writes over, as far as its constants say. */
function writtenInCode(code: string, { home }: World): string[] {
	if (!WRITES.test(code)) return [];
	const constants = [...code.matchAll(/["'`](~?\/?[^"'`\n\\]{1,200})["'`]/g)].slice(0, 64).map((match) => match[1] as string);
	return constants.flatMap((text) => {
		if (text.startsWith("~/")) return [path.join(home, text.slice(2))];
		return [...(text.startsWith("/") ? [path.normalize(text)] : []), ...(HOME.test(code) ? [path.join(home, text)] : [])];
	});
}

/** A single file outside the project that is deleted, emptied or written over. */
function losesOutside({ deed, tree, file, replaces }: Effect, command: FoundCommand, world: World): boolean {
	if (command.remote || tree) return false;
	const isLost = (place: Place) => place !== null && isLostFrom(place, world);
	const places = () => placesOf(file, command, world);
	if (deed === "deletes" || deed === "empties") return places().some(isLost);
	if (deed !== "writes" || replaces === "nothing") return false;
	return places().some((place) => isLost(place) && (replaces === "surely" || isFile(place as string, world)));
}

const isFile = (place: string, { local, looks }: World): boolean => local && looks.at(holdsSomething, place);

function holdsSomething(place: string): boolean {
	try {
		const stat = fs.statSync(place, { throwIfNoEntry: false });
		return stat?.isFile() === true && stat.size > 0;
	} catch {
		return false; // a file on the way, a name that is too long, no permission: nothing is there that the command could write over
	}
}

const roots = new WeakMap<World, string>();

/** In the working directory, or in the git work tree that it belongs to. */
function isInProject(place: string, world: World): boolean {
	if (isWithin(place, world.cwd)) return true;
	if (!world.local) return false;
	let root = roots.get(world);
	if (root === undefined) {
		root = world.cwd;
		for (let dir = world.cwd; dir !== path.dirname(dir) && !isWithin(world.home, dir); dir = path.dirname(dir)) {
			if (!world.looks.at(fs.existsSync, path.join(dir, ".git"))) continue;
			root = dir;
			break;
		}
		roots.set(world, root);
	}
	return isWithin(place, root);
}

/** The files of a repository, except its locks and those that a person may edit. */
const HISTORY = /\/\.git\/(?:HEAD|index|packed-refs|(?:objects|refs|logs)(?:\/.*)?)$(?<!\.lock)/;

/** All of the working directory, or its history. */
export function deletesEverythingHere(command: FoundCommand, world: World): boolean {
	if (
		deletedTrees(command, world).some(
			(place) => place !== null && (isWithin(world.cwd, place) || place === path.join(world.cwd, SOME) || path.basename(place) === ".git"),
		)
	)
		return true;
	return effectsOf(command).some(({ deed, file }) => {
		const places = placesOf(file, command, world);
		if (deed === "deletes" && file.glob && places.includes(world.cwd)) return true; // `rm *`: every file, if no directory
		if (deed === "moves") return places.some((place) => place !== null && (isWithin(world.cwd, place) || path.basename(place) === ".git"));
		return (deed === "deletes" || deed === "empties" || deed === "writes") && places.some((place) => place !== null && HISTORY.test(place));
	});
}
