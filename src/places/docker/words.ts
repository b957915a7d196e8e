/** What is said of containers: why one does not run, what became of the one before, why none can be made. */
import type { ContainerInspectInfo } from "dockerode";
import { HoldfastError } from "../../base/errors.js";
import { sizeText, timeText } from "../../base/quantity.js";
import { IDLE } from "../lives.js";
import { LABEL } from "./body.js";
import { reasonOf } from "./engine.js";
import type { DockerSettings } from "./options.js";

/** One life of a container. */
export const instanceOf = (info: ContainerInspectInfo): string => `${info.Id} ${info.State.StartedAt}`;

export const LOST = "but what ran in it, and what was in /tmp and other directories in memory, is gone";

/** The switch ended because of silence. */
const IDLE_EXIT = 75;

/** Why a container does not run, in words. */
export function endOf({ State: state, HostConfig: host, Config: config }: ContainerInspectInfo): string {
	const limit = host.Memory ? ` (limit ${sizeText(host.Memory)})` : "";
	if (state.ExitCode === IDLE_EXIT)
		return `The container had stopped itself, after ${timeText(Number(config.Labels?.[LABEL.lifetime] ?? 0))} in which nobody used it and nothing ran in it`;
	if (state.OOMKilled && state.ExitCode === 137) return `The container had run out of memory${limit} and was ended`;
	if (state.ExitCode === 0 || state.ExitCode === 143) return "The container had been stopped";
	if (state.ExitCode === 137) return "The container had been killed";
	return `The main process of the container had ended with exit code ${state.ExitCode}${state.Error ? ` (${state.Error})` : ""}`;
}

/** `before` is the life that the caller knew, `made` the container that he has just made. */
export function lifeNotes(info: ContainerInspectInfo, before: string | undefined, made: string | undefined): string[] {
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

/** What people get wrong, in words; else the engine's own. */
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

/** An init finds that out only when the container runs. `said`: its last line. */
export const noShell = (image: string, code: number, cause: unknown, said = ""): HoldfastError =>
	new HoldfastError(
		"START_FAILED",
		code === NOT_FOUND
			? `the image ${image} has no sh, and without one nothing can be run in it; choose another image`
			: `the sh of the image ${image} does not run: the container ended at once with exit code ${code}${said && ` (${said})`}; choose another image`,
		{ cause },
	);
const NOT_FOUND = 127;
