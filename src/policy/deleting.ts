/** Checks about what is lost: whole trees, the work itself, files outside it. */
import fs from "node:fs";
import path from "node:path";
import { type Effect, effectsOf } from "./effects.js";
import { hasFlag, is, words } from "./flags.js";
import type { Found } from "./found.js";
import { isAtWork, isTemporary, isWithin, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { SOME } from "./word.js";

type Place = string | null;

/** Places that are deleted with everything below. Where others are put aside, only tops count: nobody moves these in the course of work. */
export function deletedTrees(command: Found, world: World): Place[] {
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

export function wipesRoot(command: Found, world: World): boolean {
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

export function deletesOutside(command: Found, world: World): boolean {
	const outside = (place: Place) => place === null || !(isTemporary(place, world) || isAtWork(place, command, world));
	return deletedTrees(command, world).some(outside) || effectsOf(command).some((effect) => losesOutside(effect, command, world));
}

/** A single file outside the project that is deleted, emptied or written over. */
function losesOutside({ deed, tree, file, replaces }: Effect, command: Found, world: World): boolean {
	if (command.remote || tree) return false;
	const isLost = (place: Place) => place !== null && !place.startsWith("/dev/") && !isTemporary(place, world) && !isInProject(place, world);
	const places = () => placesOf(file, command, world);
	if (deed === "deletes" || deed === "empties") return places().some(isLost);
	if (deed !== "writes" || replaces === "nothing") return false;
	return places().some((place) => isLost(place) && (replaces === "surely" || isFile(place as string, world)));
}

function isFile(place: string, world: World): boolean {
	if (!world.local) return false;
	world.looked.at++;
	const stat = fs.statSync(place, { throwIfNoEntry: false });
	return stat?.isFile() === true && stat.size > 0;
}

const roots = new WeakMap<World, string>();

/** In the working directory, or elsewhere in the git work tree that it belongs to. */
function isInProject(place: string, world: World): boolean {
	if (isWithin(place, world.cwd)) return true;
	if (!world.local) return false;
	let root = roots.get(world);
	if (root === undefined) {
		root = world.cwd;
		for (let dir = world.cwd; dir !== path.dirname(dir) && !isWithin(world.home, dir); dir = path.dirname(dir)) {
			world.looked.at++;
			if (!fs.existsSync(path.join(dir, ".git"))) continue;
			root = dir;
			break;
		}
		roots.set(world, root);
	}
	return isWithin(place, root);
}

/** What a repository is made of, besides its locks and what a person may edit. */
const HISTORY = /\/\.git\/(?:HEAD|index|packed-refs|(?:objects|refs|logs)(?:\/.*)?)$(?<!\.lock)/;

/** All of the working directory, or its history. */
export function deletesEverythingHere(command: Found, world: World): boolean {
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
