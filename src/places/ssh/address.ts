/** `ssh://user@host:port/dir`, as a person writes it, and back. */
import { HoldfastError } from "../../base/index.js";
import { type SshOptions, type SshSettings, sshSettings } from "./options.js";

const FORM = "ssh://user@host:port/dir";

/** Everything but the address is left to the person's ssh configuration. */
export function parseSshAddress(text: string): SshOptions {
	const refuse = (why: string): never => {
		throw new HoldfastError("INVALID", `not an address of a machine: ${why}; write it as ${FORM}, where user, port and dir may be left out`);
	};
	if (text.length > 8_192) refuse("it is too long");
	if (/[\0-\x20\x7f-\x9f]/.test(text)) refuse("there is a space or a control character in it (write %20 for a space)");
	const [, rest] = /^ssh:\/\/(.*)$/i.exec(text) ?? refuse("it does not begin with ssh://");
	if (/[?#]/.test(rest as string)) refuse("it has a ? or # in it (write %3F or %23 in a directory)");
	const slash = (rest as string).indexOf("/");
	const authority = slash < 0 ? (rest as string) : (rest as string).slice(0, slash);
	const at = authority.lastIndexOf("@");
	const login = at < 0 ? undefined : authority.slice(0, at);
	// Never quoted back: what is behind the colon is a password.
	if (login?.includes(":"))
		refuse("a password cannot be part of it, where lists and logs would show it; use a key (ssh-copy-id puts it there) or an agent, and take the password out");
	const decode = (part: string, what: string): string => {
		try {
			return decodeURIComponent(part);
		} catch {
			return refuse(`the ${what} has a % that is not followed by the number of a character (write %25 for a %)`);
		}
	};
	const [host, port] = hostAndPort(authority.slice(at + 1), refuse);
	const dir = directory(decode(slash < 0 ? "" : (rest as string).slice(slash), "directory"));
	const found = {
		...(login === undefined ? {} : { user: decode(login, "user") }),
		host: decode(host, "host"),
		...(port === undefined ? {} : { port }),
		...(dir === undefined ? {} : { dir }),
	};
	sshSettings(found);
	return found;
}

function hostAndPort(text: string, refuse: (why: string) => never): [string, number | undefined] {
	const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
	if (!bracketed && /[[\]]/.test(text)) refuse("its brackets are not around an IPv6 address");
	if (bracketed && !bracketed[1]?.includes(":")) refuse("brackets are for IPv6 addresses");
	if (!bracketed && text.split(":").length > 2) refuse("an IPv6 address has to be in brackets: ssh://[::1]:22");
	const [host = "", port] = bracketed ? [bracketed[1], bracketed[2]] : text.split(":");
	if (host === "") refuse("the host is missing");
	if (port === undefined) return [host, undefined];
	if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) refuse("the port is not a number from 1 to 65535");
	return [host, Number(port)];
}

/** `/~/x` is in the remote home, and so is an address that ends at the host, with a slash or without; `//` is the root. */
function directory(path: string): string | undefined {
	if (path === "" || path === "/" || /^\/~\/?$/.test(path)) return undefined;
	return path.startsWith("/~") ? path.slice(1) : path.replace(/^\/\/+/, "/");
}

export function formatSshAddress({ user, host, port, dir }: Pick<SshSettings, "user" | "host" | "port" | "dir">): string {
	const login = user === undefined ? "" : `${encodeURIComponent(user)}@`;
	const name = host.includes(":") ? `[${host.replaceAll("%", "%25")}]` : encodeURIComponent(host);
	const way = dir === undefined || dir === "~" ? "" : dir === "/" ? "//" : dir.startsWith("~") ? `/${dir}` : dir;
	return `ssh://${login}${name}${port === undefined ? "" : `:${port}`}${encodeURI(way).replace(/[?#]/g, encodeURIComponent)}`;
}
