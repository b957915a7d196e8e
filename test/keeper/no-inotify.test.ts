import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { cli } from "../support/cli.js";
import { testRuntime } from "../support/home.js";

/** A user namespace in which this user may have no inotify instance at all. */
const PREFIX = ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 0 >/proc/sys/user/max_inotify_instances; exec "$0" "$@"'];
const possible = spawnSync(PREFIX[0] as string, [...PREFIX.slice(1), "true"]).status === 0;

test.skipIf(!possible)("where inotify is not to be had everything works by polling, and doctor says so (needs user namespaces)", async () => {
	const home = (await testRuntime({ cgroup: "off" })).home.root;
	const { stdout, code } = await cli(home, ["doctor", "--json"], { prefix: PREFIX });
	expect(code).toBe(1);
	expect(JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === "events")).toMatchObject({
		state: "warn",
		found: expect.stringContaining("polling"),
	});
	expect(await cli(home, ["run", "--", "echo one; sleep 0.3; echo two; exit 4"], { prefix: PREFIX })).toMatchObject({ code: 4, stdout: "one\ntwo\n" });
});
