/** `web.json` in Holdfast's configuration directory: what these tools need to know of the person. Both doors read it. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as z from "zod";
import { messageOf, WebError } from "./errors.js";

const key = { key_env: z.string().min(1).optional(), key_file: z.string().min(1).optional() };

export const settingsSchema = z.strictObject({
	search: z
		.strictObject({
			provider: z.string().min(1),
			url: z.string().min(1).optional(),
			...key,
			results: z.string().optional(),
			fields: z.strictObject({ title: z.string(), url: z.string(), snippet: z.string(), published: z.string() }).partial().optional(),
			headers: z.record(z.string(), z.string()).optional(),
		})
		.optional(),
	/** Hosts, `host:port` and networks that may be fetched although they are not public. */
	allow: z.array(z.string().min(1)).optional(),
	robots: z.enum(["obey", "ignore"]).optional(),
	/** The directory of pages, in the task's place. */
	directory: z.string().min(1).optional(),
	/** A model behind `/chat/completions` that condenses pages. */
	summarise: z.strictObject({ url: z.url(), model: z.string().min(1), ...key }).optional(),
	browser: z
		.strictObject({
			/** A browser that runs already, or a service: `wss://…`, `http://127.0.0.1:9222`. */
			cdp: z.string().min(1).optional(),
			executable: z.string().min(1).optional(),
			args: z.array(z.string()).optional(),
			/** The actions to ask a person about: `ask`, `allow`, `refuse`. */
			policy: z
				.strictObject({
					local_urls: z.enum(["ask", "allow", "refuse"]),
					private_hosts: z.enum(["ask", "allow", "refuse"]),
					uploads: z.enum(["ask", "allow", "refuse"]),
					downloads: z.enum(["ask", "allow", "refuse"]),
					posts: z.enum(["ask", "allow", "refuse"]),
				})
				.partial()
				.optional(),
		})
		.optional(),
});

export type Settings = z.infer<typeof settingsSchema>;

export const settingsFile = (): string => path.join(process.env.XDG_CONFIG_HOME || path.join(os.homedir(), ".config"), "holdfast", "web.json");

/** Throws `WebError` for a file that cannot be used. One that there is not is an empty one. */
export function loadSettings(file = settingsFile()): Settings {
	let text: string;
	try {
		text = fs.readFileSync(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
		throw new WebError(`${file} cannot be read (${messageOf(error)})`);
	}
	let json: unknown;
	try {
		json = JSON.parse(text);
	} catch (error) {
		throw new WebError(`${file} is no JSON (${messageOf(error)}); correct it`);
	}
	const parsed = settingsSchema.safeParse(json);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	throw new WebError(`${file}: ${issue?.path.join(".") || "it"}: ${issue?.message ?? "cannot be used"}; correct it`);
}

/** Reads a key from where the settings say. Undefined: nothing is there. */
export function keyFrom({ key_env, key_file }: { readonly key_env?: string | undefined; readonly key_file?: string | undefined }): string | undefined {
	const value = key_env !== undefined ? process.env[key_env] : key_file !== undefined ? readKey(key_file) : undefined;
	return value?.trim() || undefined;
}

function readKey(file: string): string | undefined {
	try {
		return fs.readFileSync(file.replace(/^~(?=\/)/, os.homedir()), "utf8");
	} catch {
		return undefined;
	}
}
