import fs from "node:fs";
import { expect, it } from "vitest";
import { say } from "../model-server/index.js";
import { bench } from "./support.js";

it("a torn last line is cut off when the turn goes on, and the person is told where it is kept", async () => {
	await using on = await bench([say("one"), say("two")]);
	const first = await on.open();
	await first.say("hello");
	const { id } = first.it;
	const { file } = first.it.log;
	await first.close();
	fs.appendFileSync(file, '{"n":3,"t":"us');
	const second = await on.open({ id });
	expect(await second.say("and now?")).toMatchObject({ why: "answered", text: "two" });
	expect(second.events.filter(({ type }) => type === "warning")).toEqual([
		{ type: "warning", text: expect.stringContaining(`14 bytes were cut off and are kept in ${file}.cut`) },
	]);
	expect(fs.readFileSync(`${file}.cut`, "utf8")).toBe('{"n":3,"t":"us\n');
});
