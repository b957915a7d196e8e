/** This machine, with the rights of the user that started Holdfast. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { defineKind, NO_BOUNDARY } from "../kind.js";

const schema = z.lazy(() =>
	z.strictObject({
		/** Where a new shell starts. Default: the directory that the program was started in. */
		directory: z
			.string()
			.max(4_096)
			.regex(/^\//, "the directory of a local place is absolute")
			.refine((text) => !text.includes("\0"), "a path cannot contain a NUL byte")
			.optional(),
	}),
);

type LocalOptions = z.input<typeof schema>;

export const local = defineKind({
	name: "local",
	forms: ["local", "local:/dir"],
	help: "default",
	schema,
	settings: (options: LocalOptions) => {
		const result = checked(schema, options);
		if ("problems" in result) throw new HoldfastError("INVALID", `local: ${result.problems}`);
		return result.data;
	},
	parse: (text): LocalOptions | undefined => {
		if (text === "local" || text === "local:") return {};
		return text.startsWith("local:") ? { directory: directoryIn(text) } : undefined;
	},
	show: () => "local",
	directory: ({ directory }) => directory,
	identity: () => ({}),
	boundary: () => NO_BOUNDARY,
	runs: "here",
});

function directoryIn(text: string): string {
	const dir = text.slice("local:".length);
	if (dir.startsWith("/") && !dir.includes("\0")) return dir;
	throw new HoldfastError("INVALID", `the directory of a local place is absolute: local:/dir, not ${JSON.stringify(text.slice(0, 200))}`);
}
