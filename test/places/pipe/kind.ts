/** The smallest kind of place there is: a shell of this machine behind a pair of pipes, `pipe:///home`. It has all that the table asks of a kind. */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import * as z from "zod";
import { HoldfastError } from "../../../src/base/errors.js";
import { checked } from "../../../src/base/problems.js";
import type { Host, Stream } from "../../../src/places/host.js";
import { defineKind, NO_BOUNDARY } from "../../../src/places/kind.js";

const schema = z.strictObject({
	/** The home of its login. */
	home: z.string().startsWith("/"),
	/** Where a new shell starts. Without it, the home. */
	dir: z.string().startsWith("/").optional(),
});
type PipeOptions = z.input<typeof schema>;

export const pipe = defineKind({
	name: "pipe",
	forms: ["pipe:///home"],
	schema,
	settings: (options: PipeOptions) => {
		const result = checked(schema, options);
		if ("problems" in result) throw new HoldfastError("INVALID", `pipe: ${result.problems}`);
		return result.data;
	},
	parse: (text): PipeOptions | undefined => (text.startsWith("pipe://") ? { home: text.slice("pipe://".length) } : undefined),
	show: ({ home }) => `pipe://${home}`,
	directory: ({ dir }) => dir,
	identity: ({ home }) => ({ home }),
	boundary: () => NO_BOUNDARY,
	runs: {
		life: () => undefined,
		host: async (options) => pipeHost(options),
		trial: (options) => options,
	},
});

function pipeHost({ home, dir }: PipeOptions): Host {
	const streams = new Set<Stream>();
	return {
		address: `pipe://${home}`,
		start: async () => ({ notes: [], ...(dir === undefined ? {} : { cwd: dir }) }),
		open: async (command) => {
			const { XDG_STATE_HOME: _, ...inherited } = process.env;
			const child = spawn("sh", ["-c", command], { cwd: home, env: { ...inherited, HOME: home }, stdio: ["pipe", "pipe", "ignore"], detached: true });
			const ends = [child.stdin, child.stdout] as unknown as Socket[];
			const ended = new Promise<string>((resolve) => {
				child.once("error", (error) => resolve(error.message));
				child.once("exit", (code, signal) => resolve(`its shell ended (${signal ?? code})`));
			});
			const stream: Stream = {
				input: child.stdin,
				output: child.stdout,
				ended,
				close: () => {
					for (const end of ends) end.destroy();
					child.kill();
				},
				hold: (on) => {
					for (const handle of [child, ...ends.filter(({ destroyed }) => !destroyed)]) on ? handle.ref() : handle.unref();
				},
			};
			streams.add(stream);
			void ended.then(() => streams.delete(stream));
			return stream;
		},
		stop: async () => {
			const open = [...streams];
			for (const stream of open) stream.close();
			await Promise.all(open.map(({ ended }) => ended));
			return [];
		},
	};
}
