import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine } from "../../support/dockerd.js";
import { testPlace } from "./support.js";

const why = noEngine();

describe.skipIf(why)(`the dead man's switch of a container${why ? `: ${why}` : ""}`, () => {
	// With the tools of Debian and with those of busybox; both at once, since most of it is waiting.
	const onBothImages = (title: string, run: (image: string) => Promise<void>) =>
		it(title, async () => void (await Promise.all([FULL_IMAGE, BUSYBOX_IMAGE].map(run))));

	onBothImages("stops the container when it sees no sign of life and nothing runs, and that is said", async (image) => {
		const { host, container } = await testPlace({ image, lifetime: 2 });
		await host.start();
		expect(await container.wait()).toMatchObject({ StatusCode: 75 });
		expect((await host.start()).notes).toEqual([
			"The container had stopped itself, after 2 s in which it was not used and nothing ran in it. It has been started again: its files are there, but what ran in it, and what was in /tmp and other directories in memory, is gone.",
		]);
	});

	onBothImages("lets the container be as long as there are signs of life, or a process that runs", async (image) => {
		const { host, container, run } = await testPlace({ image, lifetime: 2 });
		const { dir, instance } = await host.start();
		// Three times its lifetime, in which the switch has looked six times.
		await run(`i=0; while [ $i -lt 6 ]; do touch ${dir}/life; sleep 1; i=$((i + 1)); done`);
		expect((await host.start()).instance).toBe(instance);
		// A process with a name that would confuse a careless reader, noted as the runtime does it.
		const stream = await host.open(
			`mkdir -p ${dir}/box/busy; p='/tmp/a) Z 1 ('; printf '#!/bin/sh\nwhile :; do sleep 1; done\n' >"$p"; chmod +x "$p"; "$p" & pid=$!; until grep -q Z /proc/$pid/comm; do :; done; ` +
				`stat=$(cat /proc/$pid/stat); set -- \${stat##*) }; echo "$pid \${20}" >${dir}/box/busy/proc_1; echo "$pid 1" >${dir}/busy/proc_2; echo ready; read x; kill $pid; wait`,
		);
		await once(stream.output, "data");
		await run("sleep 5");
		expect((await host.start()).instance).toBe(instance);
		stream.input.end("\n");
		await stream.ended;
		expect(await container.wait()).toMatchObject({ StatusCode: 75 }); // the notes of dead processes are still there, and count for nothing
	});

	it("does not take a pause for silence", async () => {
		const { host, container, run } = await testPlace({ lifetime: 8 });
		const { instance } = await host.start();
		await container.pause();
		const other = await testPlace({});
		await other.host.start();
		await other.run("sleep 9"); // longer than its lifetime, by the clock
		expect(await host.start()).toMatchObject({ instance });
		expect(await run("echo here")).toMatchObject({ output: "here\n" });
	});

	it("ends at once when it is asked to", async () => {
		const { host, container } = await testPlace();
		await host.start();
		await container.stop({ t: 60 }); // the engine would wait a minute before it kills
		expect((await container.inspect()).State.ExitCode).toBe(0);
	});
});
