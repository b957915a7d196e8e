/** Texts about containers: why one does not run, what became of the previous one, why none can be made. */
import { HoldfastError, sizeText, timeText } from "../../base/index.js";
import { IDLE } from "../lives.js";
import { SWITCH_EXIT } from "../switch.js";
import type { ContainerInfo } from "./api.js";
import { LABEL } from "./body.js";
import { reasonOf } from "./explain.js";
import type { DockerSettings } from "./options.js";

export const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Identifies one life of a container. */
export const instanceOf = (info: ContainerInfo): string => `${info.Id} ${info.State.StartedAt}`;

export const LOST = "but what ran in it, and what was in /tmp and other directories in memory, is gone";

/** Returns why a container does not run, in words. */
export function endOf({ State: state, HostConfig: host, Config: config }: ContainerInfo): string {
	const limit = host.Memory ? ` (limit ${sizeText(host.Memory)})` : "";
	if (state.ExitCode === SWITCH_EXIT && config.Labels[LABEL.lifetime] !== undefined)
		return `The container had stopped itself, after ${timeText(Number(config.Labels[LABEL.lifetime] ?? 0))} in which it was not used and nothing ran in it`;
	if (state.OOMKilled && state.ExitCode === 137) return `The container had run out of memory${limit} and was ended`;
	if (state.ExitCode === 0 || state.ExitCode === 143) return "The container had been stopped";
	if (state.ExitCode === 137) return "The container had been killed";
	return `The main process of the container had ended with exit code ${state.ExitCode}${state.Error ? ` (${state.Error})` : ""}`;
}

/** Returns notes about a new life. `before` is the life that the caller knew, `made` the container that the caller has just made. */
export function lifeNotes(info: ContainerInfo, before: string | undefined, made: string | undefined): string[] {
	if (before === undefined || before === instanceOf(info)) return [];
	const [word, seconds] = before.split(" ");
	if (word === IDLE)
		return made === info.Id
			? [`The container had not been used for ${timeText(Number(seconds))} and was removed, with the files in it; this is a new one.`]
			: [];
	if (before.split(" ")[0] === info.Id) return [`The container had been started again: its files are there, ${LOST}.`];
	return [
		`The container was gone and has been made again${made === info.Id ? "" : " by another program"} from ${info.Config.Image}: the files and processes that were in it are lost.`,
	];
}

/** Explains common mistakes in words; else returns the engine's own message. */
export function refused(error: unknown, { image, disk, arguments: given }: DockerSettings): HoldfastError {
	const reason = reasonOf(error);
	const say = (text: string) => new HoldfastError("START_FAILED", text, { cause: error });
	if (disk !== undefined && /storage-opt|pquota|quota|size/i.test(reason))
		return say(`this Docker engine cannot limit the disk of a container (${reason}); leave "disk" out, or use an engine whose storage can do it`);
	if (/exec: "sh"|"sh": executable file not found/.test(reason)) return noShell(image, NOT_FOUND, error);
	if (/bind source path does not exist|invalid mount config/.test(reason)) return say(`a volume cannot be used: ${reason}`);
	const also = given.length > 0 ? "; see also the extra arguments" : "";
	return say(`the container cannot be made: ${reason}${also}`);
}

/** Returns the error for a container that ended at once: an init finds out only then that there is nothing to run. `said`: its last line. */
export function endedAtOnce({ image, profile }: DockerSettings, code: number, cause: unknown, said: string): HoldfastError {
	if (profile === "hardened" || code === NOT_FOUND) return noShell(image, code, cause, said);
	const words = said && ` (${said})`;
	return new HoldfastError(
		"START_FAILED",
		`the container of ${image} ended at once with exit code ${code}${words}: its ENTRYPOINT has to run the command that it is given; use the profile "hardened", which does without it, or another image`,
		{ cause },
	);
}

const noShell = (image: string, code: number, cause: unknown, said = ""): HoldfastError =>
	new HoldfastError(
		"START_FAILED",
		code === NOT_FOUND
			? `the image ${image} has no sh, and without one nothing can be run in it; choose another image`
			: `the sh of the image ${image} does not run: the container ended at once with exit code ${code}${said && ` (${said})`}; choose another image`,
		{ cause },
	);
const NOT_FOUND = 127;
