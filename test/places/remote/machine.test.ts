/** What a remote machine has to start things with. */
import { expect, test } from "vitest";
import { openHome } from "../../../src/base/home.js";
import { RemoteMachine } from "../../../src/places/remote/machine.js";
import { atEnd, tempDir } from "../../support/home.js";
import { ShellHost } from "../../support/shell-host.js";

test("processes start with the umask and the environment of the remote login", async () => {
	const host = new ShellHost({ login: 'umask 027; FROM_LOGIN=yes; export FROM_LOGIN; eval "$1"' });
	const machine = new RemoteMachine(host, openHome(tempDir("home")), { key: "box", name: "a box", owner: "test" });
	atEnd(() => machine.reach.close());
	const { umask, environment, procs, tools } = await machine.ready();
	expect({ umask, from: environment.FROM_LOGIN, procs }).toEqual({ umask: 0o027, from: "yes", procs: `${host.home}/.local/state/holdfast/boxes/test/procs` });
	expect(tools.sh).toMatch(/^\//);
});
