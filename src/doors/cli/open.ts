/** The runtime of a call, as the options that every command takes say. */
import fs from "node:fs";
import { loadConfig } from "../../base/config.js";
import { HoldfastError } from "../../base/errors.js";
import { placeFrom } from "../../places/address.js";
import type { RuntimeOptions } from "../../process/options.js";
import { openRuntime, type Runtime } from "../../process/runtime.js";
import type { Call, Values } from "./command.js";

interface Opener extends Pick<Call, "runtime" | "agent"> {
	/** What a person should know of the places that were used, once. */
	takeNotes(): string[];
	close(): Promise<void>;
}

/** A mistyped home is not made by a command that only looks. */
export function runtimeOpener(values: Values, { starts }: { starts: boolean }): Opener {
	const opened: Promise<Runtime>[] = [];
	const ready: Runtime[] = [];
	const open = <T extends Runtime>(opener: (options: RuntimeOptions) => Promise<T>): Promise<T> => {
		const options = chosen(values);
		if (typeof values.home === "string" && !starts && !fs.existsSync(values.home)) throw new HoldfastError("INVALID", `there is no home at ${values.home}`);
		const runtime = opener({ warm: 0, ...options });
		runtime.then(
			(one) => ready.push(one),
			() => {}, // whoever asked for it is told
		);
		opened.push(runtime);
		return runtime;
	};
	let runtime: Promise<Runtime> | undefined;
	return {
		runtime: () => (runtime ??= open(openRuntime)),
		agent: async () => open((await import("../../tools/index.js")).openAgentRuntime),
		takeNotes: () => ready.flatMap((one) => one.takeNotes()),
		close: async () => {
			for (const one of opened) await (await one.catch(() => undefined))?.close();
		},
	};
}

/** What the common options say of a runtime. */
export function chosen({ home, task, place }: Values): Pick<RuntimeOptions, "home" | "task" | "place"> {
	if (home === "") throw new HoldfastError("INVALID", "--home takes a directory, and none was given");
	if (typeof place === "string") placeFrom(place, loadConfig); // said before anything is opened, or written into a configuration
	return {
		...(typeof home === "string" ? { home } : {}),
		...(typeof task === "string" ? { task } : {}),
		...(typeof place === "string" ? { place } : {}),
	};
}
