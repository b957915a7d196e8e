import { describe, expect, test } from "vitest";
import { formatSshAddress, parseSshAddress, type SshOptions, sshHost } from "../../../src/places/ssh/index.js";
import { tempDir } from "../../support/home.js";

describe("the address of a machine", () => {
	test.each<[string, SshOptions]>([
		["ssh://box", { host: "box" }],
		["SSH://box/", { host: "box" }],
		["ssh://me@box:2222/srv/app", { user: "me", host: "box", port: 2222, dir: "/srv/app" }],
		["ssh://box/~", { host: "box" }],
		["ssh://box/~/", { host: "box" }],
		["ssh://box/~/work", { host: "box", dir: "~/work" }],
		["ssh://box//", { host: "box", dir: "/" }],
		["ssh://[::1]:22/x", { host: "::1", port: 22, dir: "/x" }],
		["ssh://[fe80::1%25eth0]", { host: "fe80::1%eth0" }],
		["ssh://me%40corp@box/a%20b/%C3%A9%3F%23", { user: "me@corp", host: "box", dir: "/a b/é?#" }],
		["ssh://DOM%5Cme@box", { user: "DOM\\me", host: "box" }],
	])("%s", (text, found) => {
		expect(parseSshAddress(text)).toEqual(found);
		expect(parseSshAddress(formatSshAddress({ ...found }))).toEqual(found); // and back
	});

	test.each([
		["box", "does not begin with ssh://"],
		["http://box", "does not begin with ssh://"],
		["ssh://", "the host is missing"],
		["ssh:///dir", "the host is missing"],
		["ssh://me@", "the host is missing"],
		["ssh://@box", "the user is empty"],
		["ssh://box:", "the port is not a number"],
		["ssh://box:0", "the port is not a number"],
		["ssh://box:65536", "the port is not a number"],
		["ssh://box:22x", "the port is not a number"],
		["ssh://::1", "has to be in brackets"],
		["ssh://[::1", "brackets are not around"],
		["ssh://[box]", "brackets are for IPv6"],
		["ssh://-oProxyCommand=x", "cannot begin with a dash"],
		["ssh://%2DoProxyCommand=x", "cannot begin with a dash"],
		["ssh://-l@box", "a user cannot begin with a dash"],
		["ssh://bo$(id)x", "a host cannot contain"],
		["ssh://a%60id%60@box", "a user cannot contain"],
		["ssh://bo%00x", "control characters"],
		["ssh://box/a%0Ab", "control characters"],
		["ssh://box/a b", "a space or a control character"],
		["ssh://bo\u0007x", "a space or a control character"],
		["ssh://box/100%", "a % that is not followed"],
		["ssh://box/x?y", "a ? or #"],
		["ssh://box/~other/x", "another user's home"],
		[`ssh://${"x".repeat(9_000)}`, "too long"],
	])("refused: %s", (text, why) => {
		expect(() => parseSshAddress(text)).toThrow(why);
	});

	test("what is wrong is one sentence", () => {
		expect(() => parseSshAddress("ssh://-x$y")).toThrow(/^ssh: host is "-x\$y", but a host cannot begin with a dash, and a host cannot contain [^✖→\n]*$/);
	});

	test("a password is refused, and not repeated", () => {
		expect(() => parseSshAddress("ssh://me:hunter2@box")).toThrow(/^(?!.*hunter2).*a password cannot be part of it.*ssh-copy-id/);
	});
});

test("options that would break it are refused, in any spelling; others are not", () => {
	const near = { home: tempDir("h") };
	const withOptions = (options: Record<string, string>) => () => sshHost({ host: "box", options }, near).address;
	for (const name of ["RequestTTY", "requesttty", "ControlPath", "ControlMaster", "CONTROLPERSIST", "BatchMode", "RemoteCommand", "LocalForward"])
		expect(withOptions({ [name]: "x" })).toThrow(/cannot be changed/);
	expect(withOptions({ Port: "1" })).toThrow("is set with `port`");
	expect(withOptions({ "a b": "1" })).toThrow("not the name of an option");
	expect(withOptions({ ProxyJump: "a\nControlPath x" })).toThrow("control characters");
	expect(withOptions({ LocalCommand: "true", PermitLocalCommand: "yes", ProxyJump: "a,b" })()).toBe("ssh://box");
	expect(() => sshHost({ host: "box", nonsense: 1 } as unknown as SshOptions, near)).toThrow(/nonsense/);
	expect(() => sshHost({ host: "box", identityFile: "key" }, near)).toThrow("absolute path");
	expect(() => sshHost({ host: "box", connectTimeout: 0 }, near)).toThrow(/connectTimeout/);
});
