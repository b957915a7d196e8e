/** Who may write, and what strangers cost. */
import { expect, test } from "vitest";
import { People } from "../../src/gateway/index.js";
import { tempHome, until } from "../support/dirs.js";
import { gateWorld } from "./support.js";

test("a stranger causes no model request, is told a code once, and may talk after it was approved, not approve", async () => {
	const world = await gateWorld({ script: ["Hello Eve."] });
	const gateway = await world.start();
	for (let n = 0; n < 500; n++) world.chats.write(`let me in ${n}`, { chat: "c9", person: "eve", name: 'Eve"\n\u001b[31m' });
	await until("all are acknowledged", () => world.chats.acknowledged === 500, 30_000);
	await world.shows(/pairing approve [A-Z0-9]{8}\n/, "c9");
	expect(world.chats.in("c9")).toHaveLength(1);
	expect(world.model.requests).toHaveLength(0);
	expect(gateway.hall.counters.get("strangers")).toBe(500);
	world.chats.write("hi all", { chat: "g1", kind: "group", person: "mallory" });
	const people = new People(world.home, () => ({}));
	expect(people.codes().map(({ id, name }) => [id, name])).toEqual([["eve", "Eve'"]]);
	const code = /approve ([A-Z0-9]{8})/.exec(world.chats.texts("c9")[0] ?? "")?.[1] ?? "";
	expect(await people.approve(code.toLowerCase())).toMatchObject({ platform: "tele", id: "eve", role: "talk" });
	world.chats.write("hello", { chat: "c9", person: "eve" });
	await world.shows("Hello Eve.", "c9");
	expect(gateway.hall.people.may("tele", { id: "eve" }, "approve")).toBe(false);
	world.chats.write("/model other", { chat: "c9", person: "eve" });
	await world.shows(/needs the role admin/, "c9");
	await people.revoke("tele/eve");
	world.chats.write("still there?", { chat: "c9", person: "eve" });
	await until("it was refused", () => gateway.hall.counters.get("strangers") === 502);
	expect(world.model.requests).toHaveLength(1);
	expect(world.chats.in("g1")).toEqual([]);
});

test("codes: an hour, five wrong ones, twenty at once; a clock that was set back lets nobody in", async () => {
	let now = 1_000_000_000_000;
	const people = new People(tempHome(), () => ({ "tele/boss": "admin" }), { now: () => now });
	const code = (await people.meet("tele", { id: "a" })) as string;
	expect(code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
	expect(await people.meet("tele", { id: "a" })).toBeUndefined();
	now += 3_600_001;
	await expect(people.approve(code)).rejects.toThrow(/no stranger was told the code/);
	const second = (await people.meet("tele", { id: "a" })) as string;
	for (let n = 0; n < 4; n++) await expect(people.approve("WRONGONE")).rejects.toThrow(/no stranger/);
	await expect(people.approve(second)).rejects.toThrow(/5 wrong codes/);
	now += 3_600_001;
	const third = (await people.meet("tele", { id: "a" })) as string;
	now -= 7_200_000;
	await expect(people.approve(third)).rejects.toThrow(/no stranger/);
	now += 7_200_000;
	for (let n = 0; n < 30; n++) await people.meet("tele", { id: `s${n}` });
	expect(people.codes()).toHaveLength(20);
	const again = (await people.meet("slack", { id: "b" })) ?? ""; // twenty are there: none for this one
	expect(again).toBe("");
	const [one] = people.codes();
	expect(await people.approve(one?.code ?? "", "approve")).toMatchObject({ id: "s0", role: "approve" });
	expect(people.approvers("tele")).toEqual(["boss", "s0"]);
	expect(people.roleOf("tele", { id: "boss" })).toBe("admin");
	expect(people.roleOf("slack", { id: "boss" })).toBeUndefined();
	await expect(people.revoke("nobody")).rejects.toThrow(/nobody was let in/);
	await people.revoke("tele/s0");
	expect(people.roleOf("tele", { id: "s0" })).toBeUndefined();
});
