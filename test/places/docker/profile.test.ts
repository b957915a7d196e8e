import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { FULL_IMAGE, noEngine, sharedEngine } from "../../support/dockerd.js";
import { atEnd, until } from "../../support/home.js";
import { testPlace } from "./support.js";

const why = noEngine();

/** An image with this ENTRYPOINT, for one test. */
async function imageWith(entrypoint: readonly string[]): Promise<string> {
	const { docker } = await sharedEngine();
	const name = `holdfast-test-${randomBytes(4).toString("hex")}`;
	const container = await docker.createContainer({ name, Image: FULL_IMAGE, Cmd: ["true"] });
	await docker.commit(name, name, `ENTRYPOINT ${JSON.stringify(entrypoint)}`);
	await container.remove();
	atEnd(() => docker.getImage(`${name}:1`).remove());
	return `${name}:1`;
}

const LOOK = "grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; grep -c ' /tmp ' /proc/self/mountinfo; cat /entered 2>/dev/null; echo done";

describe.skipIf(why)(`a container with the profile "plain"${why ? `: ${why}` : ""}`, () => {
	it("has Docker's own capabilities, the image's /tmp and ENTRYPOINT, new privileges, and room for 4096 processes", async () => {
		const image = await imageWith(["sh", "-c", 'echo "entered with $1" >/entered; exec "$@"', "entry"]);
		const { host, container, run } = await testPlace({ image, profile: "plain" });
		await host.start();
		expect(await run(LOOK)).toMatchObject({ output: "CapEff:\t00000000a80425fb\nNoNewPrivs:\t0\n0\nentered with sh\ndone\n" });
		expect((await container.inspect()).HostConfig).toMatchObject({ PidsLimit: 4096, Privileged: false });
		expect(await host.stop()).toEqual([expect.stringContaining("was removed")]);
	});

	it("has none of it without that profile, and its settings tell the two apart", async () => {
		const image = await imageWith(["sh", "-c", 'echo entered >/entered; exec "$@"', "entry"]);
		const { host, run, other } = await testPlace({ image });
		await host.start();
		expect(await run(LOOK)).toMatchObject({ output: "CapEff:\t00000000000000eb\nNoNewPrivs:\t1\n1\ndone\n" });
		await expect(other({ profile: "plain" }).start()).rejects.toThrow(/made with other settings \(.*profile.*\)/);
	});

	it("is not made of an image whose ENTRYPOINT does not run what it is given, and nothing is left", async () => {
		const image = await imageWith(["sh", "-c", "echo I am no shell; exit 3"]);
		const { host, container } = await testPlace({ image, profile: "plain" });
		await expect(host.start()).rejects.toMatchObject({
			code: "START_FAILED",
			message: `the container of ${image} ended at once with exit code 3 (I am no shell): its ENTRYPOINT has to run the command that it is given; use the profile "hardened", which does without it, or another image`,
		});
		await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
	});
});

it('the switch of a container with the lifetime "task" never ends by itself, and at once when it is told to', async () => {
	const script = fs.readFileSync("src/places/switch.sh", "utf8");
	const child = spawn("sh", ["-c", `sleep() { echo tick; }\n${script}`, "holdfast", "/nowhere", "0"]);
	let ticks = 0;
	child.stdout.on("data", (bytes: Buffer) => {
		ticks += String(bytes).split("tick").length - 1;
	});
	await until("it has looked often", () => ticks > 50 || child.exitCode !== null);
	expect(child.exitCode).toBeNull();
	child.kill("SIGTERM");
	expect(await once(child, "exit")).toEqual([0, null]);
});

describe.skipIf(why)(`a container with the lifetime "task"${why ? `: ${why}` : ""}`, () => {
	it("has no time after which it ends", async () => {
		const { host, container } = await testPlace({ lifetime: "task" });
		expect(await host.start()).not.toHaveProperty("lifetime");
		expect((await container.top({ ps_args: "-eo pid,args" })).Processes.some((fields) => / holdfast \S+ 0$/.test(fields.at(-1) ?? ""))).toBe(true);
	});
});
