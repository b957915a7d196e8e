/**
 * Traits of a place that other rooms need before there is a machine, each named by the property it depends on: no room but this one
 * asks which kind a place is of (scripts/rooms.mjs checks it). Questions about a place that runs commands are members of its `Machine`.
 */
import type { Config, SandboxSettings } from "../base/index.js";
import { directoryOf, type PlaceWish, runsOf, settingsOf } from "./address.js";
import type { Leftovers } from "./kind.js";
import { kindNamed } from "./kinds.js";

/** Whether a path there is the same file for this program, so that a directory can be checked, and its rules read, before anything runs. */
export const sharesPaths = (wish: PlaceWish): boolean => runsOf(wish) !== "remote";

/** Whether commands have all rights of this program's user. The sudo that they find is this machine's then. */
export const givesOwnRights = (wish: PlaceWish): boolean => runsOf(wish) === "here";

/** Whether all tasks see the same machine in the same way. A log that was prepared for one may serve another then. */
export const isSharedByTasks = (wish: PlaceWish): boolean => runsOf(wish) === "here";

/** Whether it has to be reached before anything can be said about it. */
export const hasToBeReached = (wish: PlaceWish): boolean => runsOf(wish) === "remote";

/** Returns the directory of this machine that shells start in, if the wish names one. That of a sandbox is one of its settings. */
export const startDirectory = (wish: PlaceWish): string | undefined => (runsOf(wish) === "here" ? directoryOf(wish) : undefined);

/** Returns what reads the settings of the sandbox that commands of the place need; undefined: they need none. */
export const sandboxNeeded = (wish: PlaceWish, config: () => Config): (() => SandboxSettings) | undefined =>
	runsOf(wish) === "sandbox" ? () => settingsOf(wish, config) as SandboxSettings : undefined;

/** Returns what lists and removes the leftovers of a kind; undefined: it leaves none outside of the home. */
export function leftoversOf(kind: string): Leftovers | undefined {
	const { runs } = kindNamed(kind);
	return typeof runs === "object" ? runs.leftovers : undefined;
}
