/** The toolsets for `holdfast mcp --toolsets web,browser`: the tools on a runtime of their own, on the same home. */
import { openRuntime, type RuntimeCallOptions } from "holdfast";
import { WebError } from "../base/index.js";
import { offeredToolsets } from "./toolsets.js";

export interface ServedToolset {
	readonly tools: readonly {
		readonly name: string;
		readonly title: string;
		readonly description: string;
		readonly inputSchema: unknown;
		readonly outputSchema: unknown;
		readonly annotations: unknown;
		run(args: unknown, options: RuntimeCallOptions): Promise<unknown>;
	}[];
	/** Parts that are off, and what to do. */
	readonly notes: readonly string[];
	close(): Promise<void>;
}

/** Throws for a set that there is not, or that cannot be used. */
export async function serveToolsets(options: {
	readonly names: readonly string[];
	readonly home: string;
	readonly place?: string;
	readonly task?: string;
}): Promise<ServedToolset> {
	const { names, ...rest } = options;
	const offered = offeredToolsets({ place: options.place });
	const chosen = names.map((name) => {
		const set = offered.find((one) => one.name === name);
		if (!set) throw new WebError(`there is no toolset "${name.slice(0, 40)}"; there are ${offered.map((one) => one.name).join(", ")}`);
		const state = set.available();
		if (!state.ok) throw new WebError(`the toolset ${name} is off: ${state.why} (${state.fix})`);
		return set;
	});
	const runtime = await openRuntime({ ...rest, warm: 0 });
	const opened = await Promise.all(chosen.map((set) => set.open(runtime, { images: true })));
	return {
		tools: opened.flatMap(({ tools }) =>
			tools.map((tool) => ({
				name: tool.name,
				title: tool.title,
				description: tool.description,
				inputSchema: tool.inputSchema,
				outputSchema: tool.outputSchema,
				annotations: tool.annotations,
				run: (args: unknown, call: RuntimeCallOptions) => tool.run(runtime, args, call),
			})),
		),
		notes: opened.flatMap(({ note }) => (note === undefined ? [] : [note])),
		async close() {
			for (const one of opened) await one.close();
			await runtime.close();
		},
	};
}
