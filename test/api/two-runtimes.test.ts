/** Two runtimes with two homes in one program do not know of each other. */
import { expect, test } from "vitest";
import { testRuntime, until } from "../support/home.js";

const VALUE = "plain-words-0f-one-home-42";

test("a secret of one runtime is masked in its own results, and not in those of the other", async () => {
	const [one, other] = [await testRuntime(), await testRuntime()];
	await one.terminal({ command: "true" });
	const started = await one.spawn({ command: `echo ${VALUE}`, env: { DEPLOY_TOKEN: VALUE } });
	await started.wait();
	const output = async (runtime: typeof one) => (await runtime.terminal({ command: `echo ${VALUE}` })).output;
	expect(await output(one)).toBe("…[redacted]\n");
	expect(await output(other)).toBe(`${VALUE}\n`);
});

test("the deadline of a call of one runtime does not show in the other, nor end its own calls' deadlines", async () => {
	const [one, other] = [(await testRuntime()).home.deadlines, (await testRuntime()).home.deadlines];
	const at = performance.now() + 60_000;
	await one.dueAt(at, async () => {
		expect([one.due(), other.due()]).toEqual([at, undefined]);
		await other.dueAt(at + 1, async () => expect([one.due(), other.due()]).toEqual([at, at + 1]));
		other.afterwards(() => expect(one.due()).toBe(at));
		one.afterwards(() => expect(one.due()).toBeUndefined());
	});
});

test("masking that is off for a call of one runtime stays on in the other", async () => {
	const [one, other] = [(await testRuntime()).home.secrets, (await testRuntime()).home.secrets];
	const key = `ghp_${"Ab3dEf7hIj1kLm5nOp9qRs2tUv6wXy0zAb3d"}`;
	one.withoutMasking(() => expect([one.redact(key), other.redact(key)]).toEqual([key, "ghp_…[redacted]"]));
});

test("closing one runtime leaves what the other watches", async () => {
	const [one, other] = [await testRuntime(), await testRuntime()];
	const [first, second] = [await one.spawn({ command: "cat" }), await other.spawn({ command: "read x; echo got $x" })];
	const told = new Set<string | null>(); // by name: a look now and then has none
	const ends = [first.watch(() => {}), second.watch((name) => told.add(name))];
	await one.close();
	await second.write("word\n");
	await until("it is told of the output", () => [...told].some((name) => name?.startsWith("out.")));
	for (const end of ends) end();
});
