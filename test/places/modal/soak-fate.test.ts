/** More of what becomes of a sandbox of Modal: the real library, against a double of the service. */
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir, textOf } from "../../support/home.js";
import { openRuntime } from "../../support/internal.js";
import { noModal } from "../../support/modal-double.js";
import { testSandbox } from "./support.js";

describe.skipIf(noModal)(`a sandbox of Modal${noModal ? `: ${noModal}` : ""}`, () => {
	it("that ends as soon as it is made is not made for ever, and the error says so", async () => {
		const { host, double, living } = await testSandbox();
		double.endsAtOnce = { status: 2, exitcode: 1 };
		await expect(host.start()).rejects.toMatchObject({
			code: "START_FAILED",
			message: expect.stringMatching(/^the sandbox ends whenever it is started \(the sandbox has ended \(exit code 1\)\); see whether the image has sh/),
		});
		expect([living(), double.sandboxes.size]).toEqual([[], 3]);
		expect(await host.stop()).toEqual([]);
	});

	it("a token that expires in the middle of a command: what runs goes on, and so does its output with a token that is good", async () => {
		const { double, options, living } = await testSandbox({}, "full");
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, task: "t", place: { kind: "modal", ...options } as never });
		atEnd(() => runtime.close());
		const counting = await runtime.spawn({ command: "i=0; while [ $i -lt 20 ]; do echo line $i; i=$((i + 1)); sleep 0.2; done" });
		await counting.wait({ until: { pattern: "line 3" }, timeout: 100_000 });
		const id = living()[0]?.id;
		double.expired = true;
		double.cut();
		await eventually("it is known why", async () => {
			await counting.sync();
			return counting.unreachable?.includes("does not accept the token, or it has expired") ?? false;
		});
		double.expired = false;
		await counting.wait({ timeout: 100_000 });
		expect(textOf(counting)).toBe(Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join(""));
		expect(living().map((one) => one.id)).toEqual([id]);
		await runtime.endTask("t");
	});
});
