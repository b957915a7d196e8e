/** What ssh says where no test can make it say so; the rest is in host.test.ts. */
import { expect, test } from "vitest";
import { explain } from "../../../src/places/ssh/explain.js";

const where = { name: "ssh://box", login: "box" };

test.each([
	["ssh: connect to host box port 22: Connection timed out", "UNREACHABLE", "did not answer in time (ssh: connect to host box port 22: Connection timed out)"],
	["Connection timed out during banner exchange", "UNREACHABLE", "did not answer in time"],
	["ssh: connect to host box port 22: Network is unreachable", "UNREACHABLE", "no way to it (Network is unreachable)"],
	["ssh: connect to host box port 22: No route to host", "UNREACHABLE", "no way to it (No route to host)"],
	["Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\nDisconnected", "FORBIDDEN", "identityFile"],
	["ssh: Could not resolve hostname box: Temporary failure in name resolution", "UNREACHABLE", "no machine with the name box"],
	["Unable to negotiate with 10.0.0.1 port 22: no matching host key type found. Their offer: ssh-rsa", "UNSUPPORTED", "Their offer: ssh-rsa"],
	["kex_exchange_identification: Connection closed by remote host", "UNREACHABLE", "the server may be busy or restarting"],
	["client_loop: send disconnect: Broken pipe", "UNREACHABLE", "the connection was closed"],
	["something new", "UNREACHABLE", 'ssh says "something new"'],
	["", "UNREACHABLE", "ssh did not say why"],
])("%s", (said, code, words) => {
	expect(explain(said, where)).toMatchObject({ code, message: expect.stringContaining(words) });
});

test("what it quotes has no control characters, and an end", () => {
	const { message } = explain(`\x1b]0;x\x07evil \x1b[2J${"y".repeat(5_000)}`, where);
	expect(message).not.toMatch(/[\0-\x1f]/);
	expect(message.length).toBeLessThan(600);
});
