/** How a machine is reached over SSH: what a person may set. docs/places.md explains it. */
import os from "node:os";
import path from "node:path";
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";

const CONTROL = /[\0-\x1f\x7f-\x9f]/;
/** ssh puts names into commands of the person's own configuration (ProxyCommand, Match exec), where these would be shell text. */
const SHELL = /['`"$\\;&<>|(){}\s]/;

const plain = (what: string) => z.string().refine((text) => !CONTROL.test(text), `${what} cannot contain control characters`);
const file = (what: string) =>
	plain(what)
		.max(4_096)
		.regex(/^(\/|~\/)/, `${what} is an absolute path, or one that begins with ~/`);

/** Without these a call could hang at a question, or end the connection that others use. */
const OURS = [
	...["BatchMode", "ControlMaster", "ControlPath", "ControlPersist", "RequestTTY", "RemoteCommand", "SessionType", "StdinNull", "LogLevel"],
	...["ForkAfterAuthentication", "NumberOfPasswordPrompts", "ClearAllForwardings", "LocalForward", "RemoteForward", "DynamicForward"],
];
/** These have a field of their own. */
const FIELDS: Readonly<Record<string, string>> = { user: "user", port: "port", identityfile: "identityFile", connecttimeout: "connectTimeout" };

function refusal(name: string): string | undefined {
	const field = FIELDS[name.toLowerCase()];
	if (field !== undefined) return `${name} is set with \`${field}\``;
	if (OURS.some((ours) => ours.toLowerCase() === name.toLowerCase())) return `${name} cannot be changed: Holdfast needs its own value`;
	return /^[A-Za-z][A-Za-z0-9]*$/.test(name) ? undefined : `${JSON.stringify(name)} is not the name of an option of ssh`;
}

export const sshSchema = z.lazy(() =>
	z.strictObject({
		/** A name, an address, or a Host of the person's own ssh configuration. */
		host: plain("a host")
			.min(1, "the host is missing")
			.max(255)
			.refine((text) => !text.startsWith("-"), "a host cannot begin with a dash")
			.refine((text) => !SHELL.test(text) && !/[@/?#[\]]/.test(text), "a host cannot contain spaces, quotes, brackets or any of $ \\ ; & < > | @ / ? #"),
		user: plain("a user")
			.min(1, "the user is empty")
			.max(255)
			.refine((text) => !text.startsWith("-"), "a user cannot begin with a dash")
			// Names of Windows domains have one: DOMAIN\me.
			.refine((text) => !SHELL.test(text.replace(/\\(?=.)/g, "")), "a user cannot contain spaces, quotes, brackets or any of $ ; & < > |")
			.optional(),
		port: z.number().int().min(1).max(65_535).optional(),
		/** Where a new shell starts: absolute, or below the remote home with ~/. Default: the remote home. */
		dir: plain("a directory")
			.max(4_096)
			.regex(/^(\/|~(\/|$))/, "a directory there is an absolute path, or one that begins with ~/ (another user's home cannot be named with ~)")
			.optional(),
		/** This key alone, from the file or from the agent. */
		identityFile: file("an identity file").optional(),
		/** In the place of ~/.ssh/config and the system's. */
		configFile: file("a configuration file of ssh").optional(),
		/** Options as after `ssh -o`; they win over the configuration. */
		options: z
			.record(z.string(), plain("the value of an option").min(1, "the value of an option is empty").max(4_096))
			.superRefine((options, context) => {
				for (const name of Object.keys(options)) {
					const message = refusal(name);
					if (message !== undefined) context.addIssue({ code: "custom", path: [name], message });
				}
			})
			.optional(),
		/** Seconds, for the connection and the first exchange; a login may take 20 more. */
		connectTimeout: z.number().int().min(1).max(600).default(10),
	}),
);

export type SshOptions = z.input<typeof sshSchema>;
export type SshSettings = z.infer<typeof sshSchema>;

export function sshSettings(options: unknown): SshSettings {
	const result = checked(sshSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `ssh: ${result.problems}`);
	return result.data;
}

/** A path of this machine, with ~ as ssh has it: the home of the login, whatever HOME says. */
export function localPath(file: string): string {
	return file.startsWith("~/") ? path.join(loginHome(), file.slice(2)) : file;
}

function loginHome(): string {
	try {
		return os.userInfo().homedir;
	} catch {
		return os.homedir(); // a user without an entry
	}
}
