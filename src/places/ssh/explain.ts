/** Explains failures of ssh, and what a person can do about them. */
import { type ErrorCode, HoldfastError } from "../../base/index.js";

export interface SshTarget {
	/** The address of the machine. */
	readonly name: string;
	/** The words that a person types behind `ssh` to log in. */
	readonly login: string;
	/** The login goes through a jump host or a proxy command, which may be what is wrong. */
	readonly proxied?: boolean;
	/** Keys that are locked with a passphrase. */
	readonly locked?: readonly string[];
}

type Case = readonly [pattern: RegExp, code: ErrorCode, words: (found: RegExpExecArray, where: SshTarget, said: string) => string];

/** The first that fits. UNREACHABLE may pass by itself; the others need the user to act. */
const CASES: readonly Case[] = [
	[
		/REMOTE HOST IDENTIFICATION HAS CHANGED/,
		"FORBIDDEN",
		(_, { login }, said) => {
			const print = /^(SHA256:\S+?)\.?$/m.exec(said)?.[1];
			const remove = /^\s*(ssh-keygen -f .* -R .*)$/m.exec(said)?.[1];
			return `the host key has changed${print ? ` (it is ${print} now)` : ""}: the machine was set up anew, or another machine intercepts the connection; ask its administrator, and only if the new key is right, forget the old one with \`${remove ?? "ssh-keygen -R HOST"}\` and run \`ssh ${login}\` once by hand`;
		},
	],
	[
		/Host key verification failed|host key is known for .* and you have requested strict checking/,
		"FORBIDDEN",
		(_, { login }) =>
			`its host key is not known here, and there is no terminal to ask whether it is right; run \`ssh ${login}\` once by hand, compare the key and accept it (or set the option StrictHostKeyChecking to accept-new, which trusts the first key that comes)`,
	],
	[
		/Too many authentication failures/,
		"FORBIDDEN",
		() =>
			"the server gave up after too many keys (an agent offers all it has); name the right one with identityFile, or with IdentityFile and IdentitiesOnly in ~/.ssh/config",
	],
	[
		/Permissions \d+ for '(.*)' are too open/,
		"FORBIDDEN",
		([, file]) => `ssh does not use the key ${file}, because others may read it; \`chmod 600\` it, then try again`,
	],
	[/Identity file (.*) not accessible: (.*?)\.?$/m, "FORBIDDEN", ([, file, why]) => `the key ${file} cannot be read (${why}); correct identityFile`],
	[
		/Permission denied \(([^)]*)\)|No more authentication methods|Permission denied, please try again/,
		"FORBIDDEN",
		([, methods], { login, locked = [] }) => {
			const server = `the server did not accept the login${methods ? ` (it takes: ${methods.replaceAll(",", ", ")})` : ""}`;
			if (locked.length > 0)
				return `${server}, and the key ${locked.join(", ")} is locked with a passphrase, and there is no terminal to ask for it; unlock it in an agent first (\`ssh-add ${locked[0]}\`), where this program sees it (SSH_AUTH_SOCK)`;
			return `${server}; passwords are never asked for here: use a key that it knows (\`ssh-copy-id ${login}\` puts yours there), and see that \`ssh -o BatchMode=yes ${login} true\` works`;
		},
	],
	[
		/Could not resolve hostname (\S+?): /,
		"UNREACHABLE",
		([, host]) => `there is no machine with the name ${host}; check the spelling, ~/.ssh/config and the network`,
	],
	[/Connection refused/, "UNREACHABLE", (_, __, said) => `nothing listens there (${lastLine(said, /refused/)}); check the port, and that sshd runs`],
	[
		/timed out|Timeout, server/,
		"UNREACHABLE",
		(_, __, said) => `it did not answer in time (${lastLine(said, /timed out|Timeout/)}); check that it is on, and that no firewall is in between`,
	],
	[/Network is unreachable|No route to host/, "UNREACHABLE", (found) => `there is no way to it (${found[0]}); check the network or the VPN`],
	[
		/Bad configuration option|keyword .* extra arguments|Bad configuration|unsupported option|missing argument/i,
		"CONFIG",
		(_, __, said) => `ssh does not understand its options (${lastLine(said, /./)}); correct them, or the configuration of ssh`,
	],
	[
		/no matching (\S+) found|no matching host key type/,
		"UNSUPPORTED",
		(_, __, said) => `the two have no way in common to talk (${lastLine(said, /no matching/)}); an old server may need an option such as HostKeyAlgorithms`,
	],
	[
		/Connection (closed|reset) by|closed by remote host|Connection reset|Broken pipe|not responding/,
		"UNREACHABLE",
		(_, __, said) =>
			`the connection was closed (${lastLine(said, /Connection|closed|reset|pipe|responding/)}); the server may be busy or restarting, or refuse this address: try again, and look at its log`,
	],
];

/** `ssh` has ended with 255, or a like failure. */
export function explain(said: string, where: SshTarget): HoldfastError {
	const text = said.replaceAll("\r", "").replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "");
	for (const [pattern, code, words] of CASES) {
		const found = pattern.exec(text);
		if (found)
			return new HoldfastError(
				code,
				`cannot reach ${where.name}${where.proxied ? " through its jump host or proxy command" : ""}: ${words(found, where, text)}`,
			);
	}
	const last = lastLine(text, /./);
	const what = last ? `cannot reach ${where.name}: ssh says "${last}"` : `the connection to ${where.name} was lost, and ssh did not say why`;
	return new HoldfastError("UNREACHABLE", `${what}; see whether \`ssh ${where.login}\` works by hand`);
}

const lastLine = (text: string, pattern: RegExp): string =>
	text
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => pattern.test(line))
		.at(-1)
		?.slice(0, 300) ?? "";
