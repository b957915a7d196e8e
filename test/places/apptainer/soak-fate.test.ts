import { describe, expect, it } from "vitest";
import { list } from "../../../src/places/apptainer/leftovers.js";
import { diagnose } from "../../../src/process/doctor.js";
import { noApptainer } from "../../support/apptainer.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir } from "../../support/home.js";
import { say } from "../../support/host-stream.js";
import { openRuntime } from "../../support/internal.js";
import { testInstance } from "./support.js";

describe.skipIf(noApptainer)(`an instance of Apptainer${noApptainer ? `: ${noApptainer}` : ""}`, () => {
	it("ends by itself without a sign of life, which is said; with one, or a process that runs, it stays", async () => {
		const { host, again } = await testInstance({ lifetime: 2 });
		const { dir, instance } = await host.start();
		await say(host, `i=0; while [ $i -lt 5 ]; do touch ${dir}/life; sleep 1; i=$((i + 1)); done`);
		expect((await host.start()).instance).toBe(instance);
		await eventually("it has ended", async () => (await again().over?.()) !== undefined);
		const why = "the Apptainer instance has ended: it had stopped itself, after 2 s in which it was unused and nothing ran in it";
		expect(await host.over?.()).toEqual({ why, kept: true });
	});

	it("with fakeroot commands are root", async () => {
		const { host } = await testInstance({ fakeroot: true });
		await host.start();
		expect((await say(host, "id -u; echo $HOME")).output).toBe("0\n/root\n");
	});

	it("doctor says what there is, and leaves nothing", async () => {
		const { options, scratch } = await testInstance();
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: { kind: "apptainer", ...options } as never });
		atEnd(() => runtime.close());
		const { checks } = await diagnose(runtime);
		expect(checks.find(({ name }) => name === "place")).toMatchObject({
			state: "warn", // busybox alone
			found: expect.stringMatching(/^apptainer:\/\/\S+busybox\.sif: Linux.*; apptainer version \d.*; images and files of instances are in \/.*; has /),
		});
		expect(await list(scratch, AbortSignal.timeout(60_000))).toEqual([]);
	});
});
