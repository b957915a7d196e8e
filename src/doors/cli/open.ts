/** The runtime of a call, as the options that every command takes say. */
import fs from "node:fs";
import { HoldfastError, isTaskName, loadConfig, TASK_NAME } from "../../base/index.js";
import type { Redactor } from "../../base/secrets/index.js";
import { placeFrom } from "../../places/index.js";
import { openSettled, type Runtime, type RuntimeOptions, type RuntimeSettings } from "../../process/index.js";
import type { CliCall, Values } from "./command.js";

interface Opener extends Pick<CliCall, "runtime" | "agent"> {
	/** Returns remarks for a person on the places that were used, each once. */
	takeNotes(): string[];
	/** Returns the secrets of the opened homes. */
	secrets(): readonly Redactor[];
	close(): Promise<void>;
}

/** A mistyped home is not made by a command that only looks. */
export function runtimeOpener(values: Values, { starts, progress }: { starts: boolean; progress(place: string, line: string): void }): Opener {
	const opened: Promise<Runtime>[] = [];
	const ready: Runtime[] = [];
	const open = <T extends Runtime>(opener: (options: RuntimeSettings) => Promise<T>): Promise<T> => {
		const options = chosen(values);
		if (typeof values.home === "string" && !starts && !fs.existsSync(values.home)) throw new HoldfastError("INVALID", `there is no home at ${values.home}`);
		const runtime = opener({ warm: 0, once: true, ...options });
		runtime.then(
			(one) => {
				ready.push(one);
				one.boxes.onProgress = progress;
			},
			() => {}, // the caller that awaits it gets the error
		);
		opened.push(runtime);
		return runtime;
	};
	let runtime: Promise<Runtime> | undefined;
	return {
		runtime: () => (runtime ??= open(openSettled)),
		agent: async () => open((await import("../../tools/index.js")).openSettledAgent),
		takeNotes: () => ready.flatMap((one) => one.takeNotes()),
		secrets: () => ready.map(({ home }) => home.secrets),
		close: async () => {
			for (const one of opened) await (await one.catch(() => undefined))?.close();
		},
	};
}

/** Returns the runtime options in the common options of commands. */
export function chosen({ home, task, place }: Values): Pick<RuntimeOptions, "home" | "task"> & { place?: string } {
	if (home === "") throw new HoldfastError("INVALID", "--home takes a directory, and none was given");
	if (typeof task === "string" && !isTaskName(task)) throw new HoldfastError("INVALID", `--task takes the name of a task: ${TASK_NAME}`);
	if (typeof place === "string") placeFrom(place, loadConfig); // said before anything is opened, or written into a configuration
	return {
		...(typeof home === "string" ? { home } : {}),
		...(typeof task === "string" ? { task } : {}),
		...(typeof place === "string" ? { place } : {}),
	};
}
