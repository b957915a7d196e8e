/** ssh and its relatives: the programs and libraries that their options make them load, and the keys they lend. */
import { is } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { after, behind, hidden, type Inner } from "./inner.js";
import { valuesOf } from "./options.js";
import type { Word } from "./word.js";

/** The values of `-o Name=value`, however it is written. */
const settings = (args: readonly Word[], name: string): string[] => {
	const pattern = new RegExp(`^\\s*(?:${name})(?:\\s*=\\s*|\\s+)(.*)$`, "is");
	return [...after(args, /^-[a-zA-Z]*o$/), ...behind(args, /^-o(.+)$/s)].flatMap((text) => pattern.exec(text)?.[1] ?? []);
};

/** Settings of one's own say which programs run: only the usual file, and none, are known. */
const USUAL = /^(?:none|\/dev\/null|\/etc\/ssh\/ssh_config)$|\/\.ssh\/config$/;

export function sshRuns({ args }: Pick<FoundCommand, "args">): Inner[] {
	const files = valuesOf({ args }, /^-[a-zA-Z]*F$/, /^-F(.+)$/s).map(({ text }) => text);
	const named = [...files, ...settings(args, "Include")].filter((text) => !USUAL.test(text));
	const libraries = [...valuesOf({ args }, /^-I$/).map(({ text }) => text), ...settings(args, "PKCS11Provider|SecurityKeyProvider")];
	return [
		...(named.length > 0 || libraries.some((text) => text.includes("/") && !/^\/usr\/lib/.test(text)) ? (["unknown-script"] as const) : []),
		...hidden(settings(args, "ProxyCommand|LocalCommand|KnownHostsCommand").filter((text) => text !== "none")),
	];
}

/** `ssh-add -s LIB`, `ssh-keygen -D LIB`. */
export const loadsLibrary = ({ args }: Pick<FoundCommand, "args">): boolean =>
	valuesOf({ args }, /^-[sD]$/).some(({ text }) => text.includes("/") && !/^\/usr\/lib/.test(text));

/** Lends the keys of the agent to the other machine, or takes those of another agent. */
export const lendsKeys = (command: FoundCommand): boolean =>
	is(command, "ssh", "scp", "sftp", "autossh", "mosh") &&
	(command.args.some(({ text }) => /^-[a-zA-Z]*A[a-zA-Z]*$/.test(text)) ||
		settings(command.args, "ForwardAgent").some((text) => text !== "no") ||
		settings(command.args, "IdentityAgent").some((text) => text.startsWith("/tmp/")));

/** Returns whether it opens a way in: for every host that reaches this machine, or from the remote one. */
export const opensWayIn = (command: FoundCommand): boolean =>
	command.args.some(({ text }) => /^-[a-zA-Z]*(?:R|w|g)$/.test(text)) ||
	valuesOf(command, /^-[a-zA-Z]*[LD]$/, /^-[LD](.+)$/s).some(({ text }) => /^(?:0\.0\.0\.0|\*|\[?::\]?|):/.test(text));
