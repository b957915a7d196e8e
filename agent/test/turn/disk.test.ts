import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openAgentHome } from "../../src/base/index.js";
import { calls, say } from "../model-server/index.js";
import { smallDisk } from "../support/small-disk.js";
import { bench, ME } from "./support.js";

/** Space is taken by pages, and a short line may find room in one that a file has already. */
const LONG = "more than two pages ".repeat(500);

it("runs no tool while the disk is full, tells the person, and goes on when there is room", async (context) => {
	let go = (): void => {};
	const gate = new Promise<void>((resolve) => {
		go = resolve;
	});
	const disk = smallDisk(context);
	await using on = await bench([
		{ ...calls(["terminal", { command: "echo ran >> ran" }]), text: LONG, pause: { at: "arguments", until: gate } },
		calls(["terminal", { command: "echo ran >> ran" }]),
		say("Done."),
	]);
	const talk = await on.open({ home: openAgentHome(path.join(disk.dir, "home")), cwd: on.dir });
	await talk.it.send("go", ME);
	await on.server.arrived(1);
	disk.fill();
	go();
	expect(await talk.it.idle()).toMatchObject({ why: "disk", text: expect.stringContaining("the disk is full") });
	expect(fs.existsSync(path.join(on.dir, "ran"))).toBe(false);
	await expect(talk.it.send(LONG, ME)).rejects.toThrow("the disk is full");
	expect(talk.it.waiting()).toEqual([]);

	disk.empty();
	talk.it.resume();
	expect(await talk.it.idle()).toMatchObject({ why: "answered", text: "Done." });
	expect(fs.readFileSync(path.join(on.dir, "ran"), "utf8")).toBe("ran\n");
	await talk.close();
});

it("has the result of a command that ended while the disk was full", async (context) => {
	const disk = smallDisk(context);
	await using on = await bench([
		calls(["terminal", { command: "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo once | tee -a ran; cat long" }]),
		say("Done."),
	]);
	fs.writeFileSync(path.join(on.dir, "long"), LONG);
	const talk = await on.open({ home: openAgentHome(path.join(disk.dir, "home")), cwd: on.dir });
	await talk.it.send("go", ME);
	while (!fs.existsSync(path.join(on.dir, "begun"))) await new Promise((resolve) => setTimeout(resolve, 5));
	disk.fill();
	fs.writeFileSync(path.join(on.dir, "go"), "");
	expect(await talk.it.idle()).toMatchObject({ why: "disk" });
	expect(talk.it.log.openCalls).toHaveLength(1);
	disk.empty();
	talk.it.resume();
	expect(await talk.it.idle()).toMatchObject({ why: "answered", text: "Done." });
	expect(talk.it.log.entries.filter(({ t }) => t === "result")).toEqual([
		expect.objectContaining({ text: `[exited, exit code 0]\nonce\n${LONG}`.trimEnd(), how: "recovered" }),
	]);
	expect(fs.readFileSync(path.join(on.dir, "ran"), "utf8")).toBe("once\n");
	await talk.close();
});
