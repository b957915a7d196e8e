/** `config.json` in the config directory: what a person has set, for every program of Holdfast. One section for each matter. */
import os from "node:os";
import path from "node:path";
import * as z from "zod";
import { errno, HoldfastError } from "./errors.js";
import { readIfThere } from "./files.js";
import { limitsSchema } from "./limits.js";
import { checked } from "./problems.js";

/** Each section is defined here, so that this file shows all there is to set; the room it is about uses it. docs/config.md explains them. */
const pathSchema = z.lazy(() =>
	z
		.string()
		.regex(/^(\/|~(\/|$))/, "a path is absolute, or begins with ~/")
		.refine((text) => !text.includes("\0"), "a path cannot contain a NUL byte"),
);

/** Settings of the place `local+sandbox`. */
export const sandboxSchema = z.lazy(() =>
	z.strictObject({
		/** Without it a sandbox has a loopback device of its own and nothing else. */
		network: z.boolean().default(false),
		/** The working directory, where it is not to be the one that the program was started in. */
		directory: pathSchema.optional(),
		/** To be seen and written to besides. */
		write: z.array(pathSchema).default([]),
		/** To be seen, where they would be hidden. */
		read: z.array(pathSchema).default([]),
		/** Not to be seen. */
		hide: z.array(pathSchema).default([]),
		/** How much /tmp, the home and /dev/shm in there may hold, each. They are in memory. */
		tmpBytes: z
			.number()
			.int()
			.min(1024 * 1024)
			.default(1024 ** 3),
	}),
);
export type SandboxSettings = z.infer<typeof sandboxSchema>;
export type SandboxOptions = z.input<typeof sandboxSchema>;

/** Names of places; none can be taken for an address. The kind, and what else is in an entry, is checked when the place is asked for. `type` is the older word for `kind`. */
const placesSchema = z.lazy(() =>
	z.record(
		z.string().regex(/^(?!local$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, "the name of a place is letters, digits, dots, dashes and underscores, and not `local`"),
		z.looseObject({ kind: z.string().optional(), type: z.string().optional() }).superRefine(({ kind, type }, context) => {
			if (kind === undefined && type === undefined)
				context.addIssue({ code: "custom", path: ["kind"], message: 'says what kind of place it is, such as "ssh"' });
			else if (kind !== undefined && type !== undefined)
				context.addIssue({ code: "custom", path: ["type"], message: "it is the older word for `kind`, which is there too; leave it out" });
		}),
	),
);
export type Places = z.infer<typeof placesSchema>;

/** A target for messages to a person. docs/notify.md */
const targetBase = {
	/** Its name in the audit, in `doctor` and in answer links. */
	name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/, "the name of a target is up to 40 letters, digits, dashes and underscores"),
	/** The events that it is told of. */
	on: z
		.array(z.enum(["question", "waiting", "end"]))
		.min(1)
		.default(["question", "waiting", "end"]),
};
const webTarget = {
	...targetBase,
	url: z.string().refine(isWebUrl, "must be an http or https address without a user name, a password or a fragment"),
	/** A file with a token, sent as `Authorization: Bearer`; from the config directory if it is not absolute. */
	tokenFile: z.string().min(1).optional(),
};
const targetSchema = z.lazy(() =>
	z.discriminatedUnion("kind", [
		z.strictObject({ kind: z.literal("webhook"), ...webTarget }),
		z.strictObject({ kind: z.literal("ntfy"), ...webTarget }),
		/** A program with its arguments, exactly these: the message comes on stdin. */
		z.strictObject({ kind: z.literal("command"), ...targetBase, command: z.array(z.string().min(1)).min(1).max(100) }),
	]),
);
export type NotifyTarget = z.infer<typeof targetSchema>;

function isWebUrl(text: string): boolean {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	return url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.hash === "";
}

const configSchema = z.lazy(() =>
	z.strictObject({
		/** The treatment of commands that a rule wants a person to be asked about. */
		approvals: z
			.strictObject({
				/** Seconds until silence is taken for a no. */
				expires: z.number().int().min(1).max(86_400).default(300),
				/** The outcome if no person is present to answer. */
				unattended: z.enum(["deny", "allow-listed", "pending"]).default("pending"),
			})
			.prefault({}),
		/** The file with the password for sudo; null: a person is asked, if one is present. */
		sudo: z.strictObject({ passwordFile: z.string().min(1).nullable().default(null) }).prefault({}),
		/** Which variables of ours a command gets, besides what the filter in environment.ts decides. A star at the end stands for anything. */
		environment: z
			.strictObject({
				pass: z.array(z.string().min(1).max(200)).max(1_000).default([]),
				withhold: z.array(z.string().min(1).max(200)).max(1_000).default([]),
			})
			.prefault({}),
		/** Limits on the use of the machine by a process and by a task. */
		limits: limitsSchema.prefault({}),
		/** The place `local+sandbox`. */
		sandbox: sandboxSchema.prefault({}),
		/** False: results of sandboxes and containers are not masked. docs/secrets.md */
		mask: z.boolean().default(true),
		/** Targets that are told of questions, of programs that wait for input, and of ends, while `holdfast serve` runs. */
		notify: z
			.array(targetSchema)
			.max(20)
			.refine((targets) => new Set(targets.map(({ name }) => name)).size === targets.length, "two targets have the same name")
			.default([]),
		/** Other machines and containers, by the name that one uses for them. */
		places: placesSchema.default({}),
	}),
);

export type Config = z.infer<typeof configSchema>;

/** The settings of an empty file. Without a file, a command does not make the schema. */
const DEFAULTS: Config = {
	approvals: { expires: 300, unattended: "pending" },
	sudo: { passwordFile: null },
	environment: { pass: [], withhold: [] },
	limits: { process: {}, task: {} },
	sandbox: { network: false, write: [], read: [], hide: [], tmpBytes: 1024 ** 3 },
	mask: true,
	notify: [],
	places: {},
};

/** Returns the directory of the user's configuration. */
export function configDir(env: NodeJS.ProcessEnv = process.env): string {
	const base = env.XDG_CONFIG_HOME && path.isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : path.join(env.HOME || os.homedir(), ".config");
	return path.join(base, "holdfast");
}

export const configFile = (env: NodeJS.ProcessEnv = process.env): string => path.join(configDir(env), "config.json");

/** Reads the configuration. Settings that are missing have their defaults; throws if the file cannot be used: defaults are never used silently. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
	return readJson(configFile(env), configSchema) ?? structuredClone(DEFAULTS);
}

/** A file of a person's own, checked; null when there is none. */
export function readJson<T>(file: string, schema: z.ZodType<T>): T | null {
	let text: string | undefined;
	try {
		text = readIfThere(file);
	} catch (error) {
		const why = errno(error) === "EISDIR" ? "it is a directory" : errno(error) === "EACCES" ? "this user may not" : (error as Error).message;
		throw new HoldfastError("CONFIG", `${file} cannot be read: ${why}; correct that, or move it away`, { cause: error });
	}
	if (text === undefined) return null;
	let json: unknown;
	try {
		json = JSON.parse(text.replace(/^\uFEFF/, ""));
	} catch (error) {
		throw new HoldfastError("CONFIG", `${file} is not JSON: ${whyNotJson(text, error as Error)}; correct it, or move it away`, { cause: error });
	}
	const result = checked(schema, json);
	if ("problems" in result) throw new HoldfastError("CONFIG", `${file} cannot be used: ${result.problems}`);
	return result.data;
}

/** Returns the position of a mistake, as an editor counts, with words for the two usual ones. */
function whyNotJson(text: string, { message }: Error): string {
	if (text.trim() === "") return "it is empty, and must have at least {}";
	const at = /position (\d+)/.exec(message)?.[1];
	if (at === undefined) return /end of JSON input/.test(message) ? "it ends too early; is a } or ] missing?" : message;
	const lines = text.slice(0, Number(at)).split("\n");
	const here = text.slice(Number(at));
	const why = /^\s*(\/\/|\/\*|#)/.test(here)
		? "there are no comments in JSON"
		: /^\s*[}\]]/.test(here) && /,\s*$/.test(text.slice(0, Number(at)))
			? "remove the trailing comma"
			: `${JSON.stringify(here.slice(0, 10).split("\n")[0])} is not expected there`;
	return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: ${why}`;
}
